"""Files that are written whole or not at all."""

import os
import tempfile

from plotting.results import PlotError


def write_atomically(path, write):
    """The old plot or the new one, never half of one."""
    folder = os.path.dirname(path) or "."
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".plot_roofline.")
        os.close(handle)
        try:
            write(temporary)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise PlotError(f"{path}: cannot be written: {error.strerror}", 4) from error
