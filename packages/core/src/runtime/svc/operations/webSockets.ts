/**
 * WebSockets of guests, on the host's `Egress`.
 *
 * A message crosses in pieces if it is larger than one host call. The host reads from the connection only as fast as the
 * guest receives.
 */
import { Effect, Option, Schema } from "effect"
import { base64Encode } from "../../../foundation/Base64.ts"
import { utf8Decode, utf8Length } from "../../../foundation/Utf8.ts"
import { Egress, noEgress } from "../../../platform/egress/Egress.ts"
import type { EgressWebSocket, WebSocketMessage } from "../../../platform/egress/EgressSocket.ts"
import { type HostCallRefused, hostCallRefused } from "../../../platform/sandbox/Sandbox.ts"
import { decodeBytes, GuestId } from "../Bytes.ts"
import { EgressSession, notOpen } from "../EgressSession.ts"
import { endOperation } from "../endOperation.ts"
import { ofRun, operation, refuse } from "../Operation.ts"
import { concatBytes } from "../ReadAhead.ts"
import { runResources } from "../RunResources.ts"

/** Maximum open WebSockets of one run. */
const webSocketsPerRunMax = 32

/** Maximum length of a piece in characters: JSON takes at most 6 bytes for one. */
const pieceLength = 128 * 1024

class Session extends EgressSession<EgressWebSocket> {
  /** Pieces of a message that the guest has begun to send. */
  #pieces: Array<Uint8Array> = []
  #length = 0
  /** Pieces that the next call returns. */
  readonly waiting: Array<Piece> = []

  /** Adds a piece. Returns the whole message after its last piece, else null. */
  addPiece(bytes: Uint8Array, more: boolean, bytesMax: number): Effect.Effect<Uint8Array | null, HostCallRefused> {
    this.#length += bytes.length
    if (this.#length > bytesMax) {
      this.#pieces = []
      return Effect.fail(hostCallRefused("LimitExceeded", `a message may have at most ${bytesMax} bytes`))
    }
    if (bytes.length > 0) this.#pieces.push(bytes)
    if (more) return Effect.succeed(null)
    const whole = concatBytes(this.#pieces)
    this.#pieces = []
    this.#length = 0
    return Effect.succeed(whole)
  }
}

const sessions = runResources<Session>()

const guest = { handWritten: "`WebSocket`, a global of the Web platform" }

const errors = { failed: "TypeError" } as const

export const webSocketOpen = operation({
  name: "websocket.open",
  input: Schema.Struct({
    id: GuestId,
    url: Schema.String,
    protocols: Schema.Array(Schema.String),
    headers: Schema.Array(Schema.Tuple([Schema.String, Schema.String]))
  }),
  output: Schema.Struct({ protocol: Schema.String }),
  permission: ofRun,
  errors,
  span: "client",
  guest,
  needs: Effect.all({ supplied: Effect.serviceOption(Egress), open: sessions }),
  handler: ({ supplied, open }) => {
    const egress = Option.getOrElse(supplied, () => noEgress)
    return Effect.fnUntraced(function* (run, { id, ...request }) {
      if (open.find(run.run_id, id) !== undefined) return yield* refuse("the WebSocket is open")
      if (open.list(run.run_id).length >= webSocketsPerRunMax) {
        return yield* hostCallRefused("LimitExceeded", `a run may open at most ${webSocketsPerRunMax} WebSockets`)
      }
      const session = new Session(() => open.remove(run.run_id, id))
      open.add(run.run_id, id, session)
      const { protocol } = yield* session.open(egress.openWebSocket(run.env_id, request))
      return { protocol }
    })
  }
})

/** A message, or a part of one with `more`. Text is text; bytes are base64. */
const Piece = Schema.Struct({ binary: Schema.Boolean, data: Schema.String, more: Schema.Boolean })
type Piece = typeof Piece.Type

const End = Schema.Struct({ code: Schema.Int, reason: Schema.String, clean: Schema.Boolean })

/** Returns the next messages, or the end of the connection. */
export const webSocketReceive = operation({
  name: "websocket.receive",
  input: Schema.Struct({ id: GuestId }),
  output: Schema.Struct({ messages: Schema.Array(Piece), end: Schema.NullOr(End) }),
  permission: ofRun,
  errors,
  span: "none",
  guest,
  needs: sessions,
  handler: (open) =>
    Effect.fnUntraced(function* (run, { id }) {
      const session = open.find(run.run_id, id)
      if (session === undefined) return yield* notOpen
      if (session.waiting.length === 0) {
        const received = yield* session.use((socket) => socket.receive(pieceLength))
        if ("code" in received) {
          yield* session.end
          const { code, reason, isClean } = received
          return { messages: [], end: { code, reason, clean: isClean } }
        }
        session.waiting.push(...received.flatMap(toPieces))
      }
      return { messages: takePieces(session.waiting), end: null }
    })
})

/** Splits a message so that each piece fits into an answer. */
const toPieces = ({ isBinary, bytes }: WebSocketMessage): ReadonlyArray<Piece> => {
  const data = isBinary ? base64Encode(bytes) : utf8Decode(bytes)
  const pieces: Array<Piece> = []
  for (let from = 0; from === 0 || from < data.length; from += pieceLength) {
    pieces.push({
      binary: isBinary,
      data: data.slice(from, from + pieceLength),
      more: from + pieceLength < data.length
    })
  }
  return pieces
}

/** Maximum messages of one answer. */
const piecesMax = 1024

/** Removes as many pieces as fit into one answer, at least one. */
const takePieces = (waiting: Array<Piece>): ReadonlyArray<Piece> => {
  let count = 0
  let length = 0
  for (const { data } of waiting) {
    length += data.length
    if (count > 0 && length > pieceLength) break
    count++
    if (count === piecesMax) break
  }
  return waiting.splice(0, count)
}

/** Sends a message, or collects a part of one with `more`. */
export const webSocketSend = operation({
  name: "websocket.send",
  input: Schema.Struct({ id: GuestId, binary: Schema.Boolean, bytes: Schema.String, more: Schema.Boolean }),
  output: Schema.Void,
  permission: ofRun,
  errors,
  span: "none",
  guest,
  needs: sessions,
  handler: (open) =>
    Effect.fnUntraced(function* (run, { id, binary, bytes, more }) {
      const session = open.find(run.run_id, id)
      if (session === undefined) return yield* notOpen
      const piece = yield* decodeBytes(bytes)
      const { messageBytes } = yield* session.use(Effect.succeed)
      const whole = yield* session.addPiece(piece, more, messageBytes)
      if (whole !== null) yield* session.use((socket) => socket.send({ isBinary: binary, bytes: whole }))
    })
})

/** Starts the closing handshake. `websocket.receive` returns the end. */
export const webSocketClose = operation({
  name: "websocket.close",
  input: Schema.Struct({ id: GuestId, code: Schema.NullOr(Schema.Int), reason: Schema.String }),
  output: Schema.Void,
  permission: ofRun,
  errors,
  span: "none",
  guest,
  needs: sessions,
  handler: (open) =>
    Effect.fnUntraced(function* (run, { id, code, reason }) {
      const session = open.find(run.run_id, id)
      if (session === undefined) return
      const isValid = code === null || code === 1000 || (code >= 3000 && code <= 4999)
      if (!isValid || utf8Length(reason) > closeReasonMax) return yield* refuse("the close code or reason is invalid")
      yield* session.use((socket) => socket.close(code, reason))
    })
})

/** Maximum length of the reason in a close frame, in bytes: RFC 6455. */
const closeReasonMax = 123

/** Ends the connection without a closing handshake. */
export const webSocketCancel = endOperation("websocket.cancel", guest, sessions)
