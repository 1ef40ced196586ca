/**
 * Performs the actions of alert rules: webhooks, events and the host's callback.
 *
 * Webhooks follow the Standard Webhooks specification, and the policy for outbound requests applies to them. The secret of a
 * rule derives from its id and the master key, so it is not stored.
 */
import { Cause, Clock, Context, Effect, Layer, Option, Result } from "effect"
import { Mac } from "effect/crypto"
import { Base64, Base64Url } from "effect/encoding"
import { EventId, freshIds, StreamId } from "../../foundation/Ids.ts"
import { type JsonText, toJsonText } from "../../foundation/JsonText.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { utf8Encode } from "../../foundation/Utf8.ts"
import { Egress, noEgress } from "../../platform/egress/Egress.ts"
import { Keyring } from "../../platform/encryption/Keyring.ts"
import { alertEventTypes } from "../../resources/builds/AlertEvents.ts"
import { Deployments } from "../../resources/builds/Deployments.ts"
import { Quotas } from "../../tenants/orgs/Quotas.ts"
import type { Event } from "../events/Event.ts"
import { EventExpressions } from "../events/EventExpressions.ts"
import { EventLog } from "../events/EventLog.ts"
import { type Alert, type AlertAction, type AlertNotice, type AlertPayload, toPayload } from "../runs/Alert.ts"

/** The host's callback for rules with the action `hook`. It may return a promise; a failure is retried. */
export type AlertHook = (alert: AlertPayload) => unknown

/** By default the host has no callback, and rules cannot have the action. */
export const CurrentAlertHook = Context.Reference<AlertHook | null>("@weft/core/runtime/control/CurrentAlertHook", {
  defaultValue: () => null
})

/** Maximum duration of an action. */
const timeout = "10 seconds"

/** The result of an action; `error` is null if it succeeded. */
export interface ActionResult {
  readonly action: AlertAction
  readonly error: string | null
}

export class AlertNotifier extends Context.Service<
  AlertNotifier,
  {
    /** True if the host has a callback. */
    readonly hasHook: boolean
    /** Performs the remaining actions of a notice, all at once. Never fails. */
    readonly send: (alert: Alert, notice: AlertNotice) => Effect.Effect<ReadonlyArray<ActionResult>>
    /** Returns the secret that signs the webhooks of a rule, such as `whsec_…`. */
    readonly secretOf: (alert: Pick<Alert, "alert_id">) => Effect.Effect<string>
  }
>()("@weft/core/runtime/control/AlertNotifier") {
  static readonly layer = Layer.effect(
    AlertNotifier,
    Effect.gen(function* () {
      const hook = yield* CurrentAlertHook
      const keyring = yield* Keyring
      const egress = Option.getOrElse(yield* Effect.serviceOption(Egress), () => noEgress)
      const sign = yield* makeSign
      const publish = yield* makePublish

      /** Returns the 32 bytes of the secret, as text. */
      const secretText = ({ alert_id }: Pick<Alert, "alert_id">) => keyring.sign(`weft alert ${alert_id}`)

      const post = Effect.fnUntraced(function* (alert: Alert, { notice_id }: AlertNotice, url: string, body: JsonText) {
        const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
        const signature = yield* sign(yield* secretText(alert), `${notice_id}.${seconds}.${body}`)
        const { status } = yield* egress.send(alert.env_id, {
          method: "POST",
          url,
          headers: [
            ["content-type", "application/json"],
            ["webhook-id", notice_id],
            ["webhook-timestamp", String(seconds)],
            ["webhook-signature", `v1,${signature}`]
          ],
          body: utf8Encode(body),
          redirect: "error"
        })
        if (status < 200 || status > 299) return yield* Effect.fail(new Error(`the server answered ${status}`))
      }, Effect.scoped)

      const perform = (alert: Alert, notice: AlertNotice, action: AlertAction): Effect.Effect<unknown, unknown> => {
        const payload = toPayload(alert, notice)
        switch (action.type) {
          case "webhook":
            return post(alert, notice, action.url, toJsonText(payload))
          case "event":
            return publish(alert, notice, toJsonText(payload))
          case "hook":
            if (hook === null) return Effect.fail(new Error("this host has no callback for alerts"))
            return Effect.tryPromise({ try: async () => hook(payload), catch: (error) => error })
        }
      }

      return AlertNotifier.of({
        hasHook: hook !== null,

        send: (alert, notice) =>
          Effect.forEach(
            notice.actions,
            (action) =>
              perform(alert, notice, action).pipe(
                Effect.timeout(timeout),
                Effect.as(null),
                Effect.catchCause((cause) => Effect.succeed(describe(cause))),
                Effect.map((error): ActionResult => ({ action, error }))
              ),
            { concurrency: "unbounded" }
          ),

        secretOf: (alert) =>
          Effect.map(secretText(alert), (text) => `whsec_${Base64.encode(Result.getOrThrow(Base64Url.decode(text)))}`)
      })
    })
  ).pipe(Layer.provide(Mac.layerWebCrypto))
}

/** Maximum characters of a stored message: it may come from the host's callback. */
const messageMax = 500

const describe = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  const message = error instanceof Error ? error.message : String(error)
  return message.replaceAll("\u0000", "").toWellFormed().slice(0, messageMax) || "failed without a message"
}

/** Returns a function that signs text with HMAC-SHA256. The key is base64url, the signature base64. */
const makeSign = Effect.map(Mac.Mac, (mac) =>
  Effect.fnUntraced(function* (key: string, text: string) {
    const bytes = Result.getOrThrow(Base64Url.decode(key))
    return Base64.encode(yield* mac.sign(yield* Mac.key(Mac.hmacSha256, bytes), utf8Encode(text)))
  }, Effect.orDie)
)

/** Returns a function that publishes the event of a notice, once within 24 hours. */
const makePublish = Effect.gen(function* () {
  const log = yield* EventLog
  const deployments = yield* Deployments
  const expressions = yield* EventExpressions
  const quotas = yield* Quotas
  const fresh = yield* freshIds

  return Effect.fnUntraced(function* ({ env_id }: Alert, { notice_id, type }: AlertNotice, data: JsonText) {
    const event_type = type === "alert.resolved" ? alertEventTypes.resolved : alertEventTypes.fired
    const now = yield* currentTime
    const event: Event = {
      ...{ event_id: yield* fresh(EventId), env_id, stream_id: yield* fresh(StreamId) },
      ...{ event_type, event_data: data, event_time: now, created_at: now }
    }
    const handlers = (yield* deployments.of(env_id)).systemHandlers(event_type)
    const matches = yield* expressions.select(event, handlers)
    if (matches.length > 0) yield* quotas.admit(env_id, matches.length)
    const request = { key: `svc:alert:${notice_id}`, digest: notice_id }
    const cause = { run_id: null, depth: 0 }
    yield* log.append({ event, matches, cause, beginsStream: true, request })
  })
})
