"""What happens to requests on one server of a language model, given how it allocates its KV cache.

Start with :func:`simulate`; :mod:`kvsim.engine` is the whole argument on one page.
"""

from kvsim.accounting import Accounting, account
from kvsim.allocation import Allocation, Contiguous, Paged
from kvsim.as_python import python_lines
from kvsim.binding import BindingLimits, binding_limits
from kvsim.binned import AZURE_CODE, AZURE_CONVERSATION, SHAREGPT, BinnedLengths
from kvsim.block_manager.pool import BlockPool, OutOfBlocksError
from kvsim.block_manager.swapping import SwappingTables
from kvsim.block_manager.tables import BlockTable, BlockTables
from kvsim.capacity import Capacity, capacity
from kvsim.curve import TtftCurve, median_ttft_s, ttft_curve
from kvsim.deployment.cache_figures import CacheFigures, figures_of_bytes, figures_of_gib
from kvsim.deployment.cache_layout import Layout, cache_layout
from kvsim.deployment.cards import CARDS, Card
from kvsim.deployment.config_json import read_config
from kvsim.deployment.presets import MODELS, Preset
from kvsim.deployment.served import ServedModel, cache_bytes_left, server_for, simplifications
from kvsim.deployment.shape import Parameters, Shape
from kvsim.engine import simulate
from kvsim.hardware import A100_40GB, A100_80GB, GPU, H100
from kvsim.keeping import record, requests_csv, to_csv, to_json
from kvsim.logs.capacity import cache_of
from kvsim.logs.server_log import ServerLog, read_log
from kvsim.model import LLAMA_3_8B, OPT_13B, OPT_66B, OPT_175B, Model
from kvsim.passes import Passes
from kvsim.placement import Place, Placement
from kvsim.preempting import Preemptions, preemptions
from kvsim.reserving import Buddy, FirstFit
from kvsim.saturated import saturated_capacity, sustained_rate
from kvsim.server import PLATE_CACHE_BYTES, Server
from kvsim.setting import Setting
from kvsim.shared_capacity import SharedCapacity, shared_capacity
from kvsim.stays import Stays
from kvsim.summary import Percentiles, ServiceLimits, Summary, summarise
from kvsim.sweep import SweepError, sweep
from kvsim.timeline import Timeline
from kvsim.traces.replay import Replay
from kvsim.traces.trace import Trace, read_trace, write_trace
from kvsim.traffic import Traffic
from kvsim.workload import ExponentialLengths, Lengths, Requests

__all__ = [
    "A100_40GB",
    "A100_80GB",
    "AZURE_CODE",
    "AZURE_CONVERSATION",
    "CARDS",
    "GPU",
    "H100",
    "LLAMA_3_8B",
    "MODELS",
    "OPT_13B",
    "OPT_66B",
    "OPT_175B",
    "PLATE_CACHE_BYTES",
    "SHAREGPT",
    "Accounting",
    "Allocation",
    "BindingLimits",
    "BinnedLengths",
    "BlockPool",
    "BlockTable",
    "BlockTables",
    "Buddy",
    "CacheFigures",
    "Capacity",
    "Card",
    "Contiguous",
    "ExponentialLengths",
    "FirstFit",
    "Layout",
    "Lengths",
    "Model",
    "OutOfBlocksError",
    "Paged",
    "Parameters",
    "Passes",
    "Percentiles",
    "Place",
    "Placement",
    "Preemptions",
    "Preset",
    "Replay",
    "Requests",
    "ServedModel",
    "Server",
    "ServerLog",
    "ServiceLimits",
    "Setting",
    "Shape",
    "SharedCapacity",
    "Stays",
    "Summary",
    "SwappingTables",
    "SweepError",
    "Timeline",
    "Trace",
    "Traffic",
    "TtftCurve",
    "account",
    "binding_limits",
    "cache_bytes_left",
    "cache_layout",
    "cache_of",
    "capacity",
    "figures_of_bytes",
    "figures_of_gib",
    "median_ttft_s",
    "preemptions",
    "python_lines",
    "read_config",
    "read_log",
    "read_trace",
    "record",
    "requests_csv",
    "saturated_capacity",
    "server_for",
    "shared_capacity",
    "simplifications",
    "simulate",
    "summarise",
    "sustained_rate",
    "sweep",
    "to_csv",
    "to_json",
    "ttft_curve",
    "write_trace",
]
