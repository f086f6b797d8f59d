"""Other packages on the same small tasks; they are in no extra, see ``__main__``."""
