class Figure:
    def __init__(self, number):
        self.number = number

    def savefig(self, file, format, **options):
        file.write(b"\x89PNG\r\n\x1a\n" + b"figure %d" % self.number)
