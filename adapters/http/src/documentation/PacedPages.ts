/**
 * Sends the large public pages in pieces, between which environments have their turns.
 *
 * Anyone may request them. To write 670 KB to a socket takes 4 ms, and 500 connections may begin at once. A client that reads
 * nothing receives no further pieces.
 */
import { connectionKey, nextTurn, Turns } from "@weft/core/adapter"
import { Effect, Stream } from "effect"
import { HttpBody, HttpServerRequest, HttpServerResponse } from "effect/http"
import { isStaticPage } from "./StaticPages.ts"

const pieceBytes = 64 * 1024

/** All clients of these pages share the turns of one connection. */
const key = connectionKey(0)

type Response = HttpServerResponse.HttpServerResponse

/** Wraps the app: public pages are sent in turns. */
export const withPacedPages = <E, R>(app: Effect.Effect<Response, E, R>) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) => (isStaticPage(url) ? Effect.map(app, toPaced) : app))

const toPaced = (response: Response): Response => {
  const { body } = response
  if (body._tag !== "Uint8Array" || body.body.length <= pieceBytes) return response
  const bytes = body.body
  const stream = Stream.unfold(0, (from) =>
    from >= bytes.length
      ? Effect.undefined
      : Effect.map(takePublicTurn, () => [bytes.subarray(from, from + pieceBytes), from + pieceBytes] as const)
  )
  return HttpServerResponse.setBody(response, HttpBody.stream(stream, body.contentType, bytes.length))
}

const takePublicTurn = Effect.flatMap(Turns, (turns) => nextTurn(turns, key, "list"))
