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
import { base64Encode } from "../ids/Base64.ts"
import type { Run } from "../runs/Run.ts"
import type { HostCall, HostCallRefused } from "../sandbox/Sandbox.ts"
import { annotateSpan, type SpanAttributes } from "../tracing/Spans.ts"
import { Exchange } from "./Exchange.ts"
import {
  answerBytesMax,
  bytesOf,
  GuestId,
  type GuestOperation,
  guestOperation,
  Piece,
  refused
} from "./GuestOperation.ts"
import { OpenOfRuns } from "./OpenOfRuns.ts"

/** Whose requests they are. */
type Owner = Pick<Run, "run_id" | "env_id">

export interface FetchCalls {
  /** Answers an operation of the table; null for any other. */
  readonly answer: (run: Owner, call: HostCall) => Effect.Effect<string, HostCallRefused> | null
  /** Closes what the run has left open. */
  readonly end: (run: Owner) => Effect.Effect<void>
}

const Send = Schema.Struct({
  id: GuestId,
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

const Write = Schema.Struct({ id: GuestId, bytes: Schema.String, done: Schema.Boolean })
const Read = Schema.Struct({ id: GuestId, ...Piece })
const Cancel = Schema.Struct({ id: GuestId })

/** The host's own `Egress`, or none. */
export const makeFetchCalls: Effect.Effect<FetchCalls> = Effect.map(Effect.serviceOption(Egress), (supplied) => {
  const egress = Option.getOrElse(supplied, () => noEgress)
  const exchanges = new OpenOfRuns<Exchange>()

  const begin = (run: Owner, id: number): Effect.Effect<Exchange, HostCallRefused> =>
    Effect.suspend(() => {
      if (find(run, id) !== undefined) return refused("the request is in progress")
      const exchange = new Exchange(() => exchanges.remove(run.run_id, id))
      exchanges.add(run.run_id, id, exchange)
      return Effect.succeed(exchange)
    })

  const find = (run: Owner, id: number) => exchanges.find(run.run_id, id)

  const operations: ReadonlyMap<string, GuestOperation<Owner>> = new Map([
    [
      "fetch.send",
      operation(Send, (run, { id, body, ...request }) =>
        Effect.gen(function* () {
          const sent = body !== null && "bytes" in body ? yield* bytesOf(body.bytes) : body
          const exchange = yield* begin(run, id)
          yield* annotateSpan(() => spanOfRequest(request))
          const head = yield* exchange.send(egress, run.env_id, request, sent)
          yield* annotateSpan(() => ({ "http.response.status_code": head.status }))
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
        return Effect.map(exchange.read(Math.min(max, answerBytesMax)), ({ bytes, done }) => {
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
    end: (run) => exchanges.endAll(run.run_id)
  }
})

/** Where it goes, but not what for: paths and queries hold what is nobody else's business. */
const spanOfRequest = ({ method, url }: { readonly method: string; readonly url: string }): SpanAttributes => ({
  "http.request.method": /^[A-Z]{1,16}$/.test(method) ? method : "_OTHER",
  "server.address":
    /^https?:\/\/(?:[^/?#@]*@)?(\[[0-9a-f:.]+\]|[A-Za-z0-9.-]{1,253})(?=[:/?#]|$)/i.exec(url)?.[1] ?? "unknown"
})

const operation = <A, E extends { readonly _tag: string; readonly message: string }>(
  schema: Schema.Codec<A, unknown>,
  act: (run: Owner, input: A) => Effect.Effect<string, E>
): GuestOperation<Owner> =>
  // As in browsers: whatever stops a request is a TypeError.
  guestOperation(schema, act, () => "TypeError")
