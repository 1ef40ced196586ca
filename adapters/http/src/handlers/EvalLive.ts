/** Handler for `EvalApi`: the run at its end, or a stream of its log. */
import { LogEntryRecord, WeftApi } from "@weft/api"
import { Evaluations } from "@weft/core"
import type { LogEntry } from "@weft/core/adapter"
import type { RunEnd } from "@weft/core/internal"
import { type Cause, Effect, Exit, Fiber, Queue, Schema, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { evaluationText } from "../responses/RawRecord.ts"
import { respondSingle } from "../responses/RawResponses.ts"
import { acceptsEvents } from "../streams/AcceptsEvents.ts"
import { streamHeaders } from "../streams/EventStreams.ts"
import { formatFrame } from "../streams/SseEncoder.ts"

const encodeEntry = Schema.encodeSync(LogEntryRecord)

export const EvalLive = HttpApiBuilder.group(
  WeftApi,
  "eval",
  Effect.fnUntraced(function* (handlers) {
    const evaluations = yield* Evaluations
    return handlers.handleAll({
      run: ({ payload, request }) =>
        acceptsEvents(request)
          ? respondWithEvents((onLog) => evaluations.evaluate(payload, { onLog }))
          : Effect.flatMap(evaluations.evaluate(payload), (end) => respondSingle(end, evaluationText))
    })
  })
)

/**
 * Responds with the messages `log` and `result`. The response begins with the first line or at the end of the run. So
 * a request that fails before its code runs gets the response of its error.
 */
const respondWithEvents = <E, R>(evaluate: (onLog: (entry: LogEntry) => void) => Effect.Effect<RunEnd, E, R>) =>
  Effect.gen(function* () {
    const lines = yield* Queue.unbounded<LogEntry, Cause.Done>()
    const fiber = yield* Effect.forkScoped(
      Effect.ensuring(
        evaluate((entry) => void Queue.offerUnsafe(lines, entry)),
        Queue.end(lines)
      )
    )
    const first = yield* Effect.exit(Queue.peek(lines))
    // Without a line, the run has ended.
    const failed = Exit.isFailure(first) ? yield* Fiber.await(fiber) : null
    if (failed !== null && Exit.isFailure(failed)) return yield* Effect.failCause(failed.cause)
    const log = Stream.map(Stream.fromQueue(lines), (entry) =>
      formatFrame(null, "log", JSON.stringify(encodeEntry(entry)))
    )
    const end = Stream.map(Stream.fromEffect(Fiber.join(fiber)), (ended) =>
      formatFrame(null, "result", evaluationText(ended))
    )
    return HttpServerResponse.stream(Stream.encodeText(Stream.concat(log, end)), {
      contentType: "text/event-stream",
      headers: streamHeaders
    })
  })
