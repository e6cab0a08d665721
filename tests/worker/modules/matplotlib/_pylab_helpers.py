class Gcf:
    managers = {}

    @classmethod
    def get_all_fig_managers(cls):
        return list(cls.managers.values())
