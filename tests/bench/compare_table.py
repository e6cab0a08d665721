"""Prints a table: lists of texts, the first of them the heading."""


def print_table(table, markdown):
    if markdown:
        for cells in [table[0], ["---"] * len(table[0]), *table[1:]]:
            print("| " + " | ".join(cells) + " |")
    else:
        widths = [max(len(cells[column]) for cells in table) for column in range(len(table[0]))]
        for cells in table:
            print("  ".join(text.ljust(width) for text, width in zip(cells, widths)).rstrip())
