import type { Json } from "@weft/client"
import { Effect, Option, Result } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { misuse } from "../../Failure.ts"
import { jsonOf } from "../../input/JsonText.ts"
import { readStdin } from "../../input/Text.ts"
import { Output } from "../../output/Output.ts"

const optional = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional)

export const publish = Command.make(
  "publish",
  {
    type: Argument.String("type").pipe(Argument.withDescription("Such as order:created")),
    data: Argument.String("data").pipe(
      Argument.withDescription("The event's data as JSON, or - for stdin; {} by default"),
      Argument.withDefault("{}")
    ),
    stream: optional("stream", "id", "Append it to this stream instead of a new one"),
    delay: optional("delay", "time", "Have it handled later, such as 90s, PT90S or milliseconds"),
    at: optional("at", "instant", "Have it handled then, such as 2026-01-31T12:00:00Z"),
    idempotencyKey: optional("idempotency-key", "key", "Events with the same key are one, for 24 hours")
  },
  Effect.fnUntraced(function* ({ type, data, stream, delay, at, idempotencyKey }) {
    const api = yield* Api
    const output = yield* Output
    const input = {
      event_type: type,
      event_data: yield* dataOf(data),
      stream_id: Option.getOrUndefined(stream),
      delay: Option.getOrUndefined(Option.map(delay, millisOrText)),
      deliver_at: Option.getOrUndefined(at)
    }
    const key = Option.getOrUndefined(idempotencyKey)
    const event = yield* api.ask((weft, asking) => weft.events.publish(input, { ...asking, idempotencyKey: key }))
    yield* output.print(event, () => event.event_id)
    yield* output.note(`See what it sets off with: weft events get ${event.event_id}`)
  })
).pipe(
  Command.withDescription("Publish an event, and print its id"),
  Command.withExamples([
    { command: `weft events publish order:created '{"total": 21}'` },
    { command: "weft events publish import - --delay 90s < rows.json", description: "With data from a file, later" }
  ])
)

const dataOf = Effect.fnUntraced(function* (text: string) {
  return yield* Result.match(jsonOf(text === "-" ? yield* readStdin : text), {
    onSuccess: (value) => Effect.succeed<Json>(value),
    onFailure: ({ message, remedy }) => Effect.fail(misuse(`The event's data is ${message}`, remedy))
  })
})

/** The API takes a number for milliseconds. */
const millisOrText = (text: string): string | number => (/^\d+$/.test(text) ? Number(text) : text)
