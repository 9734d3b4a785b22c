"""The addresses at which Python answers for a reader's own server; all begin with ``answers/``.

Bodies and answers are JSON unless said otherwise. What is refused has a status of 400 or more and
``{"error": SENTENCE}``. A page of another origin may not ask (403).

``POST config``: the text of a ``config.json``, at most 1 MB. Answer: ``name``, ``layers`` (number),
``attention_heads``, ``max_length``, ``parameters_billions``, ``active_billions`` (null if they
cannot be counted, and ``uncounted`` says why), ``weights`` (published type), ``notes`` (sentences).

``POST log``: lines of a server's start-up, at most 1 MB. Answer: ``engine``, ``generation``,
``figures`` {name: {value, line, worker}}, ``remarks`` [{name, values, sentence}], ``unread``
[{line, text, sentence}], ``capacity`` {tokens, tokens_low, tokens_high, basis, sentence} or null,
and then ``capacity_problem`` says why; ``ask``: the fields of ``compute`` that these lines set.

``POST trace`` (``?leave-out=1`` leaves bad rows out): CSV or JSON lines, at most 20 MB. Answer:
``trace`` (its name, for ``compute``), ``kind``, ``requests``, ``duration_s``, ``rate_per_s`` (null
if all arrive at once), ``longest_tokens``, ``prompt_tokens`` and ``output_tokens`` {mean, p50, p90,
p99, greatest}, ``remarks``, ``bad_rows`` [{line, reason, sentence}]. Refused rows: 400 with
``error`` and all ``bad_rows``.

``POST capacity``: the fields of ``compute``. Answer at once, without simulation of its curve:
``title``, ``tokens``, ``bytes_per_token``, ``cache_bytes``, ``contiguous_requests`` and
``paged_requests`` that fit on average, ``mean_request_tokens``, ``axes``, ``position``, ``notes``.

``POST compute``: what is asked; see :mod:`kvsim_app.asked` for the fields. Answer: 202 and a status
(below). 409 with ``missing: "trace"`` if the trace is not known here (any more): send it again.
503 if too many wait.

``GET jobs/ID?ticket=T``: the status: ``job``, ``ticket`` (of this reader), ``state`` (``waiting``,
``running``, ``done``, ``failed``, ``cancelled``), ``stage`` (``coarse``, ``asked``, ``others``,
null before and after), ``done`` of ``total`` pieces of work, ``version`` (0 before there is an
atlas; the atlas changes with it), ``reason`` (a sentence, if failed or cancelled), ``title``,
``axes``, ``position``, ``notes``, ``replications``, and ``results`` [{kind, figures,
binding_limit}] at the position asked about, null before. 404 if there is no such job here: ask
``compute`` again with the same fields, which gives the same ID.

``POST jobs/ID/cancel?ticket=T``: this reader no longer wants it; it is stopped when nobody does.

``GET jobs/ID/atlas?version=N``: the atlas so far, in the form of the kept ones (bytes). What is not
there yet has NaN in ``*_ttft``, ``*_sustained``, ``*_requests``, ``*_share`` and ``*_doubled``, and
0 in the arrays of whole numbers.

``GET jobs/ID/results.json``, ``.csv``, ``.py``: the results to keep; 404 until there are any.

A server of several processes has jobs and traces in each of them by themselves: who is sent to
another one is told 404 or 409, and asks again.
"""
