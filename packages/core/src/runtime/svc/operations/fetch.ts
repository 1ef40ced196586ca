/**
 * The guest's `fetch`, on the host's `Egress`. Without one, requests are refused.
 *
 * A body is its bytes, or its length and then `fetch.write` sends it. Requests that a run leaves open are closed at its end.
 */
import { Effect, Option, Schema } from "effect"
import { annotateSpan, type SpanAttributes } from "../../../foundation/telemetry/Spans.ts"
import { Egress, EgressFailed, noEgress } from "../../../platform/egress/Egress.ts"
import { answerBytesMax, decodeBytes, GuestId, Length, Piece, PieceRequest, pieceText } from "../Bytes.ts"
import { endOperation } from "../endOperation.ts"
import { FetchSession } from "../FetchSession.ts"
import { ofRun, operation, refuse, textOperation } from "../Operation.ts"
import { runResources } from "../RunResources.ts"

const sessions = runResources<FetchSession>()

const guest = { handWritten: "a global of the Web platform, with streams, cancellation and its own errors" }

/** As in browsers, every failed request is a TypeError. */
const errors = { failed: "TypeError" } as const

const Headers = Schema.Array(Schema.Tuple([Schema.String, Schema.String]))

export const fetchSend = operation({
  name: "fetch.send",
  input: Schema.Struct({
    id: GuestId,
    method: Schema.String,
    url: Schema.String,
    headers: Headers,
    redirect: Schema.Literals(["follow", "manual", "error"]),
    body: Schema.NullOr(Schema.Union([Schema.Struct({ bytes: Schema.String }), Schema.Struct({ length: Length })]))
  }),
  output: Schema.Struct({
    status: Schema.Int,
    status_text: Schema.String,
    url: Schema.String,
    redirected: Schema.Boolean,
    headers: Headers
  }),
  permission: ofRun,
  errors,
  span: "client",
  guest,
  needs: Effect.all({ supplied: Effect.serviceOption(Egress), open: sessions }),
  handler: ({ supplied, open }) => {
    const egress = Option.getOrElse(supplied, () => noEgress)
    return Effect.fnUntraced(function* (run, { id, body, ...request }) {
      const sent = body !== null && "bytes" in body ? yield* decodeBytes(body.bytes) : body
      if (open.find(run.run_id, id) !== undefined) return yield* refuse("the request is in progress")
      const session = new FetchSession(() => open.remove(run.run_id, id))
      open.add(run.run_id, id, session)
      yield* annotateSpan(() => requestAttributes(request))
      const head = yield* session.send(egress, run.env_id, request, sent)
      yield* annotateSpan(() => ({ "http.response.status_code": head.status }))
      return {
        status: head.status,
        status_text: head.statusText,
        url: head.url,
        redirected: head.redirected,
        headers: head.headers
      }
    })
  }
})

/** Returns true if more bytes are accepted. */
export const fetchWrite = operation({
  name: "fetch.write",
  input: Schema.Struct({ id: GuestId, bytes: Schema.String, done: Schema.Boolean }),
  output: Schema.Boolean,
  permission: ofRun,
  errors,
  span: "none",
  guest,
  needs: sessions,
  handler:
    (open) =>
    (run, { id, bytes, done }) =>
      Effect.flatMap(
        decodeBytes(bytes),
        (chunk) => open.find(run.run_id, id)?.write(chunk, done) ?? Effect.succeed(false)
      )
})

export const fetchRead = textOperation({
  name: "fetch.read",
  input: Schema.Struct({ id: GuestId, ...PieceRequest }),
  output: Piece,
  permission: ofRun,
  errors,
  span: "none",
  guest,
  needs: sessions,
  handler:
    (open) =>
    (run, { id, max, text }) => {
      const session = open.find(run.run_id, id)
      return session === undefined
        ? Effect.fail(new EgressFailed({ reason: "the response has ended" }))
        : Effect.map(session.read(Math.min(max, answerBytesMax)), (taken) =>
            pieceText(taken, text, (bytes, isLast) => session.decodeText(bytes, isLast))
          )
    }
})

export const fetchCancel = endOperation("fetch.cancel", guest, sessions)

/** Returns span attributes with method and host. Paths and queries may contain secrets. */
const requestAttributes = ({ method, url }: { readonly method: string; readonly url: string }): SpanAttributes => ({
  "http.request.method": /^[A-Z]{1,16}$/.test(method) ? method : "_OTHER",
  "server.address":
    /^https?:\/\/(?:[^/?#@]*@)?(\[[0-9a-f:.]+\]|[A-Za-z0-9.-]{1,253})(?=[:/?#]|$)/i.exec(url)?.[1] ?? "unknown"
})
