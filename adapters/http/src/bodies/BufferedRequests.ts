/**
 * Reads the text of requests within the memory budget of all bodies, and strictly as UTF-8.
 *
 * `effect` decodes JSON from `request.text`, and its own reader has no common budget and replaces invalid bytes.
 */
import { Caller } from "@weft/core"
import { nextTurn, Turns } from "@weft/core/adapter"
import { Effect, Option } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { decodeUtf8, notUtf8 } from "../encoding/Utf8.ts"
import { declaresBody } from "../webhooks/WebhookDecision.ts"
import type { BodyMemoryBudget } from "./BodyMemoryBudget.ts"
import { BufferedBody } from "./BufferedBody.ts"
import { readBody } from "./ReadBody.ts"

type ServerRequest = HttpServerRequest.HttpServerRequest

/** True if a request has a body. A web request with a body has a stream. */
export const hasBody = ({ source, headers }: ServerRequest): boolean =>
  source instanceof Request ? source.body !== null : declaresBody(headers)

/** Wraps the app: a request's text comes from its buffered body, whose memory is released after the response. */
export const withBufferedText = <E, R>(
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  budget: BodyMemoryBudget
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    if (!hasBody(request)) return app
    const buffered = new BufferedBody(budget)
    return Effect.ensuring(
      Effect.provideService(
        app,
        HttpServerRequest.HttpServerRequest,
        withText(request, readText(request, buffered, budget))
      ),
      Effect.sync(() => buffered.release())
    )
  })

/** Returns a view of the request with another text, from which its `json` follows. */
const withText = (request: ServerRequest, text: Effect.Effect<string>): ServerRequest =>
  Object.create(request, { text: { value: text } })

/** Reads the body at most once. Faults are defects, because `text` cannot fail with them. */
const readText = (request: ServerRequest, buffered: BufferedBody, { maxBodyBytes }: BodyMemoryBudget) =>
  Effect.runSync(
    Effect.cached(
      Effect.orDie(
        Effect.flatMap(Effect.andThen(readBody(request, buffered, maxBodyBytes), turnOfCaller), () => {
          const text = decodeUtf8(buffered.take() ?? new Uint8Array())
          return text === null ? Effect.fail(notUtf8) : Effect.succeed(text)
        })
      )
    )
  )

/**
 * Waits for a turn of the caller's environment. The request had one before its body arrived, but to decode the body and
 * handle it is most of its work.
 */
const turnOfCaller = Effect.flatMap(Effect.serviceOption(Caller), (caller) =>
  Option.isNone(caller)
    ? Effect.void
    : Effect.flatMap(Turns, (turns) => nextTurn(turns, caller.value.env_id, "request"))
)
