/** Alert rules for callers. Checks permission first, then the rules. */
import { Context, Data, Effect, Layer } from "effect"
import { BadRequest, type Forbidden, NotFound, PlanRequired, type StoreUnavailable } from "../../foundation/Errors.ts"
import { AlertId, freshIds, idReader, NoticeId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { isStorable } from "../../foundation/StorableText.ts"
import { now as currentTime, type Timestamp } from "../../foundation/time/Timestamp.ts"
import { makeEntries } from "../../resources/audit/AuditFacts.ts"
import { AuditStore } from "../../resources/audit/AuditStore.ts"
import { type Caller, type Identity, requirePermission } from "../../tenants/access/Caller.ts"
import { readable } from "../../tenants/access/Permission.ts"
import { Plans } from "../../tenants/orgs/Plans.ts"
import { type Alert, type AlertAction, type AlertCondition, describeCondition, testNotice } from "../runs/Alert.ts"
import { AlertStore } from "../runs/AlertStore.ts"
import { type ActionResult, AlertNotifier } from "./AlertNotifier.ts"
import { makeResolveTarget, type SentTarget } from "./TargetScope.ts"

export interface NewAlert extends SentTarget {
  readonly name: string
  readonly condition: AlertCondition
  /** 0 by default: the rule fires at once. */
  readonly for_minutes?: number | undefined
  readonly actions: ReadonlyArray<AlertAction>
  /** True by default. */
  readonly enabled?: boolean | undefined
}

/** Changes of a rule. Its scope stays. */
export type AlertChange = { readonly [K in Exclude<keyof NewAlert, keyof SentTarget>]?: NewAlert[K] | undefined }

/** A rule with the secret that signs its webhooks. */
export interface AlertWithSecret extends Alert {
  readonly webhook_secret: string
}

/** Results of a test notification. */
export interface AlertTest {
  readonly results: ReadonlyArray<ActionResult>
  readonly webhook_secret: string
}

type WriteError = Forbidden | NotFound | BadRequest | StoreUnavailable

export class Alerts extends Context.Service<
  Alerts,
  {
    /** Lists the rules that the caller may read, newest first. Requires `build: read`. */
    readonly list: (page: PageRequest) => Effect.Effect<Page<Alert>, Forbidden | StoreUnavailable, Caller>
    readonly get: (id: string) => Effect.Effect<Alert, Forbidden | NotFound | StoreUnavailable, Caller>
    /**
     * Creates a rule about a function, a project, or without both the environment. Requires `build: execute` on the project,
     * or on all projects. Fails with `PlanRequired` beyond the plan's `max_alert_rules`.
     */
    readonly create: (input: NewAlert) => Effect.Effect<AlertWithSecret, WriteError | PlanRequired, Caller>
    /** Changes a rule. It begins in the state `ok` if its condition changes, or if it is enabled or disabled. */
    readonly update: (id: string, change: AlertChange) => Effect.Effect<AlertWithSecret, WriteError, Caller>
    readonly remove: (id: string) => Effect.Effect<void, Forbidden | NotFound | StoreUnavailable, Caller>
    /** Performs the actions of a rule now, with a notice of the type `alert.test`. Its state does not change. */
    readonly test: (id: string) => Effect.Effect<AlertTest, Forbidden | NotFound | StoreUnavailable, Caller>
  }
>()("@weft/core/runtime/control/Alerts") {
  static readonly layer = Layer.effect(
    Alerts,
    Effect.gen(function* () {
      const store = yield* AlertStore
      const notifier = yield* AlertNotifier
      const plans = yield* Plans
      const audit = yield* AuditStore
      const entries = yield* makeEntries
      const fresh = yield* freshIds
      const resolve = yield* makeResolveTarget("build", "execute", "*")

      const find = Effect.fnUntraced(function* ({ env_id }: Identity, text: string) {
        const id = readAlertId(text)
        return id === null ? yield* new NotFound({ resource: "alert" }) : yield* store.get(env_id, id)
      })

      /** Returns a rule that the caller may change. */
      const findOwn = Effect.fnUntraced(function* (text: string) {
        const caller = yield* requirePermission("build", [], "execute")
        const alert = yield* find(caller, text)
        const { project_id, project_name } = alert
        yield* requirePermission("build", project_id === null ? "*" : [project_id, project_name ?? ""], "execute")
        return alert
      })

      const withSecret = (alert: Alert) =>
        Effect.map(notifier.secretOf(alert), (webhook_secret): AlertWithSecret => ({ ...alert, webhook_secret }))

      /** Repeats a change whose rule was evaluated meanwhile. */
      const change = (text: string, input: AlertChange): Effect.Effect<Alert, WriteError, Caller> =>
        Effect.gen(function* () {
          const alert = yield* findOwn(text)
          const changed = applyChange(alert, input, yield* currentTime)
          const toEntry = yield* entries
          const replaced = Effect.filterOrFail(
            store.replace(changed, alert.due_at),
            (isStored) => isStored,
            () => new Outdated()
          )
          return yield* audit
            .within(replaced, () => toEntry({ action: "alert.update", ...toFacts(changed) }))
            .pipe(
              Effect.as(changed),
              Effect.catchTag("Outdated", () => change(text, input))
            )
        })

      return Alerts.of({
        list: Effect.fnUntraced(function* ({ limit, offset }) {
          const caller = yield* requirePermission("build", [], "read")
          const found = (yield* store.all(caller.env_id)).filter((alert) => maySee(caller, alert))
          return { items: found.slice(offset, offset + limit), total: found.length }
        }),

        get: Effect.fnUntraced(function* (text) {
          const caller = yield* requirePermission("build", [], "read")
          const alert = yield* find(caller, text)
          return maySee(caller, alert) ? alert : yield* new NotFound({ resource: "alert" })
        }),

        create: Effect.fnUntraced(function* (
          input
        ): Effect.fn.Return<AlertWithSecret, WriteError | PlanRequired, Caller> {
          const { caller, target } = yield* resolve(input)
          yield* checkFields(input, notifier.hasHook)
          const { plan } = yield* plans.of(caller.env_id)
          const count = (yield* store.all(caller.env_id)).length
          if (plan.max_alert_rules !== -1 && count >= plan.max_alert_rules) return yield* tooMany(plan.max_alert_rules)
          const now = yield* currentTime
          const { name, condition, for_minutes = 0, actions, enabled = true } = input
          const alert: Alert = {
            ...{ alert_id: yield* fresh(AlertId), env_id: caller.env_id, name, ...target },
            ...{ condition, for_minutes, actions, enabled },
            ...{ state: "ok", since: now, value: null, evaluated_at: null, last_error: null, notices: [] },
            ...{ due_at: now, created_at: now, updated_at: now }
          }
          const toEntry = yield* entries
          yield* audit.within(store.insert(alert), () => toEntry({ action: "alert.create", ...toFacts(alert) }))
          return yield* withSecret(alert)
        }, Effect.uninterruptible),

        update: Effect.fnUntraced(function* (text, input): Effect.fn.Return<AlertWithSecret, WriteError, Caller> {
          yield* requirePermission("build", [], "execute")
          yield* checkFields(input, notifier.hasHook)
          return yield* withSecret(yield* change(text, input))
        }, Effect.uninterruptible),

        remove: Effect.fnUntraced(function* (text) {
          const alert = yield* findOwn(text)
          const toEntry = yield* entries
          yield* audit.within(store.remove(alert.env_id, alert.alert_id), () =>
            toEntry({ action: "alert.remove", object_id: alert.alert_id, object_name: alert.name })
          )
        }, Effect.uninterruptible),

        test: Effect.fnUntraced(function* (text) {
          const alert = yield* findOwn(text)
          const notice = testNotice(alert, yield* currentTime, yield* fresh(NoticeId))
          const results = yield* notifier.send(alert, notice)
          return { results, webhook_secret: yield* notifier.secretOf(alert) }
        })
      })
    })
  )
}

/** A node has evaluated the rule since it was read. */
class Outdated extends Data.TaggedError("Outdated") {}

/** True if the caller may read builds of the project. A rule about the environment concerns every project. */
const maySee = ({ permissions }: Identity, { project_id, project_name }: Alert): boolean => {
  const only = readable(permissions, "build", "read")
  return only === "all" || project_id === null || only.includes(project_id) || only.includes(project_name ?? "")
}

const applyChange = (alert: Alert, input: AlertChange, now: Timestamp): Alert => {
  const { name = alert.name, condition = alert.condition, actions = alert.actions } = input
  const { for_minutes = alert.for_minutes, enabled = alert.enabled } = input
  const changed = { ...alert, name, condition, actions, for_minutes, enabled, due_at: now, updated_at: now }
  return input.condition === undefined && enabled === alert.enabled
    ? changed
    : { ...changed, state: "ok", since: now, value: null, notices: [] }
}

const toFacts = ({ alert_id, name, condition, actions, enabled }: Alert) => ({
  object_id: alert_id,
  object_name: name,
  // A URL may contain a token.
  details: { condition: describeCondition(condition), actions: actions.map(({ type }) => type).join(", "), enabled }
})

const nameLengthMax = 100
const actionsMax = 5

/** Fails if a field contradicts the rules that its schema cannot express. */
const checkFields = ({ name, condition, actions }: AlertChange, hasHook: boolean): Effect.Effect<void, BadRequest> => {
  if (name !== undefined && (name.trim() === "" || name.length > nameLengthMax || !isStorable(name)))
    return refuse(`name must have 1 to ${nameLengthMax} characters of valid Unicode, without U+0000`)
  if (condition?.type === "backlog" && condition.deliveries === undefined && condition.oldest_seconds === undefined)
    return refuse("condition: a backlog needs deliveries, oldest_seconds, or both")
  if (actions === undefined) return Effect.void
  if (actions.length === 0 || actions.length > actionsMax) return refuse(`actions must have 1 to ${actionsMax} entries`)
  if (!hasHook && actions.some(({ type }) => type === "hook"))
    return refuse("actions: this host has no callback for alerts, so the type hook is not possible")
  const url = actions.find((action) => action.type === "webhook" && !isHttpUrl(action.url))
  return url === undefined ? Effect.void : refuse("actions: url must be an absolute http or https URL")
}

/** The policy for outbound requests checks the rest when the webhook is sent. */
const isHttpUrl = (text: string): boolean => isStorable(text) && /^https?:\/\/[^\s/]+(?:\/\S*)?$/i.test(text)

const refuse = (reason: string) => Effect.fail(new BadRequest({ reason }))

const tooMany = (limit: number) =>
  new PlanRequired({
    reason: `The plan allows ${limit} alert rules per environment (max_alert_rules): remove some, or use a larger plan`
  })

const readAlertId = idReader(AlertId)
