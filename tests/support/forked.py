"""Kernels for nbval that are forks of one process, so that what notebooks import is imported once."""

import multiprocessing
import os
import signal

from jupyter_client.manager import KernelManager

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    "ipykernel.ipkernel ipykernel.zmqshell ragnb ragnb.ensemble ragnb.experiments.recorded "
    "ragnb.figures ragnb.reports ragnb.scoring matplotlib.pyplot openai "
    "pyarrow.parquet seaborn sklearn.ensemble sklearn.linear_model sklearn.model_selection "
    "sklearn.tree statsmodels.api".split()
)


def run_kernel(connection_file, folder):
    """Run a kernel in this process, as `python -m ipykernel_launcher` does."""
    import pandas as pd
    from ipykernel.kernelapp import IPKernelApp

    os.chdir(folder)
    app = IPKernelApp.instance(parent_handle=os.getppid())
    app.initialize(["-f", connection_file])
    # What both choose when they are imported in a kernel.
    app.shell.enable_matplotlib("inline")
    pd.options.display.max_columns = 20
    app.start()


class ForkedKernelManager(KernelManager):
    """Starts, watches and ends such a kernel."""

    def start_kernel(self, cwd, **_):
        self.pre_start_kernel()
        arguments = (self.connection_file, cwd)
        self.process = FORKS.Process(target=run_kernel, args=arguments, daemon=True)
        self.process.start()

    async def _async_is_alive(self):
        return self.process.is_alive()

    def is_alive(self):
        return self.process.is_alive()

    def interrupt_kernel(self):
        os.kill(self.process.pid, signal.SIGINT)

    def shutdown_kernel(self, now=False):
        self.process.kill()
        self.process.join()
        self.cleanup_connection_file()
