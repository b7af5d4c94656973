"""Write the table of servers into docs/models.md: ``PYTHONPATH=tests python -m tools.servers``."""

import openai._base_client
from support.servers import BEGIN, END, PAGE, table

if __name__ == "__main__":
    # Retries of the client wait less.
    openai._base_client.INITIAL_RETRY_DELAY = 0.01
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}", encoding="utf-8")
