"""The process behind `ragnb.llm.local.serve`: serves one model file until its standard input closes.

Its parent holds the other end of that pipe, so it ends with its parent, however the parent ends.
"""

import json
import sys


def main(order: dict[str, object]) -> None:
    """Serve the model that ``order`` names; print the address; wait for the parent to go."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = order["path"]
    params.model_alias = {order["alias"]}
    params.n_ctx = order["context"]
    params.n_parallel = 1
    params.cache_prompt = False
    params.cache_ram_mib = 0  # prompts are not reused, so none need be kept
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = order["threads"]
        threads.poll = 0  # waiting threads sleep, so that a busy machine is not made busier
    params.ui = False
    params.verbosity = -1
    server = xllamacpp.Server(params)  # a free port on 127.0.0.1
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
