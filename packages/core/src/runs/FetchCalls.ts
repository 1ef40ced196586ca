/**
 * The host calls behind the guest's `fetch`.
 *
 * | operation      | payload                                   | answer                                            |
 * | -------------- | ----------------------------------------- | ------------------------------------------------- |
 * | `fetch.send`   | id, method, url, headers, redirect, body  | status, status_text, url, redirected, headers     |
 * | `fetch.write`  | id, bytes, done                           | whether more is wanted                            |
 * | `fetch.read`   | id, max, text                             | bytes, done                                       |
 * | `fetch.cancel` | id                                        | null                                              |
 *
 * `id` is the guest's own number for the request; `bytes` are base64, or with `text` what they say in UTF-8. A body
 * is its bytes, or its length (null: not known), and then it comes by `fetch.write`. What a run leaves open ends with it.
 */
import { Effect, Option, Schema } from "effect"
import { Egress, EgressFailed, noEgress } from "../egress/Egress.ts"
import { base64Decode, base64Encode } from "../ids/Base64.ts"
import type { RunId } from "../ids/Ids.ts"
import { type HostCall, HostCallRefused } from "../sandbox/Sandbox.ts"
import { Exchange } from "./Exchange.ts"
import type { Run } from "./Run.ts"

/** Whose requests they are. */
type Owner = Pick<Run, "run_id" | "env_id">

export interface FetchCalls {
  /** Answers an operation of the table; null for any other. */
  readonly answer: (run: Owner, call: HostCall) => Effect.Effect<string, HostCallRefused> | null
  /** Closes what the run has left open. */
  readonly end: (run: Owner) => Effect.Effect<void>
}

const Id = Schema.Int.check(Schema.isGreaterThan(0))

const Send = Schema.Struct({
  id: Id,
  method: Schema.String,
  url: Schema.String,
  headers: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
  redirect: Schema.Literals(["follow", "manual", "error"]),
  body: Schema.NullOr(
    Schema.Union([
      Schema.Struct({ bytes: Schema.String }),
      Schema.Struct({ length: Schema.NullOr(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))) })
    ])
  )
})

const Write = Schema.Struct({ id: Id, bytes: Schema.String, done: Schema.Boolean })
const Read = Schema.Struct({ id: Id, max: Schema.Int.check(Schema.isGreaterThan(0)), text: Schema.Boolean })
const Cancel = Schema.Struct({ id: Id })

/** Bytes of one answer, at most: more would gain nothing and stay in memory for longer. */
const readMax = 384 * 1024

/** The host's own `Egress`, or none. */
export const makeFetchCalls: Effect.Effect<FetchCalls> = Effect.map(Effect.serviceOption(Egress), (supplied) => {
  const egress = Option.getOrElse(supplied, () => noEgress)
  const runs = new Map<RunId, Map<number, Exchange>>()

  const begin = (run: Owner, id: number): Effect.Effect<Exchange, HostCallRefused> =>
    Effect.suspend(() => {
      const open = runs.get(run.run_id) ?? new Map<number, Exchange>()
      if (open.has(id)) return refused("the request is in progress")
      const exchange = new Exchange(() => {
        open.delete(id)
        if (open.size === 0) runs.delete(run.run_id)
      })
      runs.set(run.run_id, open.set(id, exchange))
      return Effect.succeed(exchange)
    })

  const find = (run: Owner, id: number) => runs.get(run.run_id)?.get(id)

  const operations: ReadonlyMap<string, Operation> = new Map([
    [
      "fetch.send",
      operation(Send, (run, { id, body, ...request }) =>
        Effect.gen(function* () {
          const sent = body !== null && "bytes" in body ? yield* bytesOf(body.bytes) : body
          const exchange = yield* begin(run, id)
          const head = yield* exchange.send(egress, run.env_id, request, sent)
          return JSON.stringify({
            status: head.status,
            status_text: head.statusText,
            url: head.url,
            redirected: head.redirected,
            headers: head.headers
          })
        })
      )
    ],
    [
      "fetch.write",
      operation(Write, (run, { id, bytes, done }) =>
        Effect.flatMap(bytesOf(bytes), (chunk) => find(run, id)?.write(chunk, done) ?? Effect.succeed(false)).pipe(
          Effect.map(String)
        )
      )
    ],
    [
      "fetch.read",
      operation(Read, (run, { id, max, text }) => {
        const exchange = find(run, id)
        if (exchange === undefined) return Effect.fail(new EgressFailed({ reason: "the response is over" }))
        return Effect.map(exchange.read(Math.min(max, readMax)), ({ bytes, done }) => {
          // Base64 needs no escapes.
          const content = text ? JSON.stringify(exchange.textOf(bytes, done)) : `"${base64Encode(bytes)}"`
          return `{"bytes":${content},"done":${done}}`
        })
      })
    ],
    ["fetch.cancel", operation(Cancel, (run, { id }) => Effect.as(find(run, id)?.end ?? Effect.void, "null"))]
  ])

  return {
    answer: (run, { op, payload }) => operations.get(op)?.(run, payload) ?? null,
    end: (run) => {
      const open = runs.get(run.run_id)
      return open === undefined ? Effect.void : Effect.forEach([...open.values()], ({ end }) => end, { discard: true })
    }
  }
})

type Operation = (run: Owner, payload: string) => Effect.Effect<string, HostCallRefused>

const operation = <A>(
  schema: Schema.Codec<A, unknown>,
  act: (run: Owner, input: A) => Effect.Effect<string, { readonly message: string }>
): Operation => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
  return (run, payload) =>
    Effect.flatMap(decode(payload), (input) => act(run, input)).pipe(
      // As in browsers: whatever stops a request is a TypeError.
      Effect.mapError(({ message }) => new HostCallRefused({ name: "TypeError", message }))
    )
}

const bytesOf = (text: string): Effect.Effect<Uint8Array, HostCallRefused> => {
  const bytes = base64Decode(text)
  return bytes === null ? refused("the bytes are not base64") : Effect.succeed(bytes)
}

const refused = (message: string) => Effect.fail(new HostCallRefused({ name: "TypeError", message }))
