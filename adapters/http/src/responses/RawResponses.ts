/**
 * Responses with raw records. A large one is sent in pieces, between which other environments have their turns.
 *
 * The endpoints still declare their schemas, for the documentation and for clients; a test compares both.
 */
import { type Listing, meta } from "@weft/api"
import { Caller } from "@weft/core"
import { nextTurn, type OpenWait, type StepRecord, Turns, utf8Encode } from "@weft/core/adapter"
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { stepText, type ToText, waitText } from "./RawRecord.ts"

/** Characters of a piece: encoded and written in less than a millisecond. */
const pieceLength = 128 * 1024

const contentType = "application/json"

/** Responds with `{ data, meta }`. */
export const respondSingle = <A>(item: A, toText: ToText<A>, status = 200): Effect.Effect<Response, never, Caller> =>
  Effect.suspend(() => respondText([`{"data":${toText(item)},"meta":${JSON.stringify(meta())}}`], status))

/** Responds with `{ data, pagination, meta }`. */
export const respondList = <A>(page: Listing<A>, toText: ToText<A>): Effect.Effect<Response, never, Caller> =>
  Effect.suspend(() => respondText(listTexts(page, toText, JSON.stringify(meta()))))

/** Responds with `{ data, waits, pagination, meta }`. */
export const respondSteps = (
  page: Listing<StepRecord>,
  waits: ReadonlyArray<OpenWait>
): Effect.Effect<Response, never, Caller> =>
  Effect.suspend(() => respondText(listTexts(page, stepText, JSON.stringify(meta()), waits.map(waitText))))

type Response = HttpServerResponse.HttpServerResponse

/** Yields the text of a list, record by record, so that a record is encoded in the turn in which it is sent. */
function* listTexts<A>(
  { items, total, limit, offset }: Listing<A>,
  toText: ToText<A>,
  metaText: string,
  waits: ReadonlyArray<string> | null = null
): Generator<string> {
  let prefix = `{"data":[`
  for (const item of items) {
    yield `${prefix}${toText(item)}`
    prefix = ","
  }
  const pagination = { total, limit, offset, has_more: offset + items.length < total }
  const waitsText = waits === null ? "" : `"waits":[${waits.join()}],`
  yield `${items.length === 0 ? prefix : ""}],${waitsText}"pagination":${JSON.stringify(pagination)},"meta":${metaText}}`
}

/** Responds at once if the text is no longer than a piece. */
const respondText = (texts: Iterable<string>, status = 200): Effect.Effect<Response, never, Caller> =>
  Effect.gen(function* () {
    const pieces = toPieces(texts)
    const first = pieces.next()
    const second = pieces.next()
    if (first.done === true || second.done === true) {
      return HttpServerResponse.text(first.done === true ? "" : first.value, { contentType, status })
    }
    const { env_id } = yield* Caller
    const turns = yield* Turns
    const rest = Stream.unfold(pieces, () =>
      Effect.map(nextTurn(turns, env_id, "list"), () => {
        const { done, value } = pieces.next()
        return done === true ? undefined : ([value, pieces] as const)
      })
    )
    const all = Stream.concat(Stream.fromIterable([first.value, second.value]), rest)
    return HttpServerResponse.stream(Stream.map(all, utf8Encode), { contentType, status })
  })

/** Joins short texts and divides long ones. */
function* toPieces(texts: Iterable<string>): Generator<string> {
  let piece = ""
  for (const text of texts) {
    piece += text
    while (piece.length > pieceLength) {
      const end = isHighSurrogate(piece.charCodeAt(pieceLength - 1)) ? pieceLength - 1 : pieceLength
      yield piece.slice(0, end)
      piece = piece.slice(end)
    }
  }
  if (piece !== "") yield piece
}

/** True for the first half of a pair, which must not be encoded without the second. */
const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
