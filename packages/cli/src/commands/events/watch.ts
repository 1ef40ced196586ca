import type { EnvironmentMessage, StreamMessage } from "@weft/client"
import { Clock, Effect, Option, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { usageError } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"
import { printable } from "../../output/Printable.ts"
import { clockTime, duration } from "../../output/Times.ts"
import { plainJson } from "../../output/Values.ts"

export const watch = Command.make(
  "watch",
  {
    type: Flag.String("type").pipe(Flag.withDescription("Only events of this type"), Flag.optional),
    stream: Flag.String("stream").pipe(
      Flag.withMetavar("id"),
      Flag.withDescription("Watch this stream: its runs with their results, and the messages that they emit"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ type, stream }) {
    if (Option.isSome(stream)) {
      if (Option.isSome(type))
        return yield* usageError("--type cannot filter a stream, which has runs instead of event types", "omit --type")
      return yield* watchStream(stream.value)
    }
    yield* watchEvents(Option.getOrNull(type))
  })
).pipe(
  Command.withDescription("Print events as they are published, or the messages of a stream"),
  Command.withExamples([
    { command: "weft events watch --type order:created", description: "Until Ctrl-C" },
    { command: "weft events watch --stream 01970d44-1c90-7a51-9d0c-4a3d2b1c0f6e --json" }
  ])
)

const watchEvents = Effect.fnUntraced(function* (type: string | null) {
  const api = yield* Api
  yield* api
    .stream((weft, options) => weft.streams.watchEnv(options))
    .pipe(
      Stream.filter(({ event, data }) => event === "event:created" && (type === null || data.event_type === type)),
      Stream.runForEach(printMessage)
    )
})

const watchStream = Effect.fnUntraced(function* (id: string) {
  const api = yield* Api
  yield* api
    .stream((weft, options) => weft.streams.watch(id, { ...options, follow: true }))
    .pipe(
      Stream.filter(({ event }) => event !== "stream:complete"),
      Stream.runForEach(printMessage)
    )
})

const printMessage = Effect.fnUntraced(function* (message: EnvironmentMessage | StreamMessage) {
  const output = yield* Output
  const now = new Date(yield* Clock.currentTimeMillis).toISOString()
  const [subject, facts] = formatMessage(message)
  yield* output.line(message, () =>
    `${output.paint.dim(clockTime(now))} ${output.paint.cyan(subject)} ${output.paint.dim(facts)}`.trimEnd()
  )
})

const formatMessage = ({
  event,
  data
}: EnvironmentMessage | StreamMessage): readonly [subject: string, facts: string] => {
  if ("event_type" in data) return [printable(data.event_type), `event ${data.event_id}, stream ${data.stream_id}`]
  if ("payload" in data) return [printable(data.data_type), `${plainJson(data.payload)}, run ${data.run_id}`]
  if ("run" in data) {
    const { run_id, result } = data.run
    return [event, result === undefined ? `run ${run_id}` : `run ${run_id} ${plainJson(result)}`]
  }
  if ("position" in data) {
    const outcome = data.ok ? "" : " failed"
    return [event, `run ${data.run_id} ${data.kind} "${printable(data.name)}"${outcome} in ${duration(data.ms)}`]
  }
  if ("waiting" in data)
    return [event, `run ${data.run_id} waits for ${data.waiting.for} "${printable(data.waiting.name)}"`]
  return [event, ""]
}
