import type { Json } from "@weft/client"
import { Effect, Option, Result } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { usageError } from "../../Failure.ts"
import { parseJsonText } from "../../input/JsonText.ts"
import { readStdin } from "../../input/Text.ts"
import { Output } from "../../output/Output.ts"

const optional = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional)

export const publish = Command.make(
  "publish",
  {
    type: Argument.String("type").pipe(Argument.withDescription("Event type, such as order:created")),
    data: Argument.String("data").pipe(
      Argument.withDescription("The event's data as JSON, or - for stdin; {} by default"),
      Argument.withDefault("{}")
    ),
    stream: optional("stream", "id", "Append it to this stream instead of a new one"),
    delay: optional("delay", "time", "Deliver it after a delay, such as 90s, PT90S or milliseconds"),
    at: optional("at", "instant", "Deliver it at an instant, such as 2026-01-31T12:00:00Z"),
    idempotencyKey: optional("idempotency-key", "key", "Deduplicate events with the same key for 24 hours")
  },
  Effect.fnUntraced(function* ({ type, data, stream, delay, at, idempotencyKey }) {
    const api = yield* Api
    const output = yield* Output
    const input = {
      event_type: type,
      event_data: yield* parseData(data),
      stream_id: Option.getOrUndefined(stream),
      delay: Option.getOrUndefined(Option.map(delay, millisOrText)),
      deliver_at: Option.getOrUndefined(at)
    }
    const key = Option.getOrUndefined(idempotencyKey)
    const event = yield* api.request((weft, options) => weft.events.publish(input, { ...options, idempotencyKey: key }))
    yield* output.print(event, () => event.event_id)
    yield* output.note(`Show its runs with: weft events get ${event.event_id}`)
  })
).pipe(
  Command.withDescription("Publish an event and print its id"),
  Command.withExamples([
    { command: `weft events publish order:created '{"total": 21}'` },
    {
      command: "weft events publish import - --delay 90s < rows.json",
      description: "With data from a file, after a delay"
    }
  ])
)

const parseData = Effect.fnUntraced(function* (text: string) {
  return yield* Result.match(parseJsonText(text === "-" ? yield* readStdin : text), {
    onSuccess: (value) => Effect.succeed<Json>(value),
    onFailure: ({ message, remedy }) => Effect.fail(usageError(`The event's data is ${message}`, remedy))
  })
})

/** Converts digits into a number, which the API reads as milliseconds. */
const millisOrText = (text: string): string | number => (/^\d+$/.test(text) ? Number(text) : text)
