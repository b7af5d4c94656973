"""What a static page shows, found with CSS selectors."""

from bs4 import BeautifulSoup


def parsed(shown):
    """The page of a viewer."""
    return BeautifulSoup(shown._repr_html_(), "html.parser")


def texts(page, selector):
    return [one.get_text() for one in page.select(selector)]


def tables(page):
    """Texts of the cells of all tables: table, row, cell."""
    return [
        [[cell.get_text() for cell in row.children] for row in table.select("tr")]
        for table in page.select("table")
    ]
