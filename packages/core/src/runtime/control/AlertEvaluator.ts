/**
 * Evaluates the alert rules of all environments, at most once a minute each, and performs their actions.
 *
 * A claim takes due rules for one minute, so that a rule has one evaluating node. Every change compares the claimed time, so
 * a node that is late changes nothing. Each transition is stored before its actions, which are repeated until they succeed:
 * after a crash, by the node that claims the rule next. Without rules, nodes send no statement: the poll of the store finds
 * the next due time.
 */
import { Effect, Latch, Layer } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { freshIds, NoticeId } from "../../foundation/Ids.ts"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { addMillis, now as currentTime, type Timestamp } from "../../foundation/time/Timestamp.ts"
import { StorePoller } from "../journal/StorePoller.ts"
import { type Alert, type AlertCondition, attempted, evaluate, type Verdict } from "../runs/Alert.ts"
import { AlertStore } from "../runs/AlertStore.ts"
import { type MinuteCounts, minuteMs, toMinute } from "../runs/MinuteCounts.ts"
import { CountSums } from "../runs/Series.ts"
import { type SeriesKey, type SeriesSelection, SeriesStore } from "../runs/SeriesStore.ts"
import { AlertNotifier } from "./AlertNotifier.ts"

/** Time in milliseconds until the next evaluation, which is also the lease of an evaluation. */
const intervalMs = 60_000

/** Maximum rules per claim, and rules that are evaluated at the same time. */
const batch = 20
const concurrency = 5

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* AlertStore
    const notifier = yield* AlertNotifier
    const poller = yield* StorePoller
    const fresh = yield* freshIds
    const judge = yield* makeJudge
    const hasDue = Latch.makeUnsafe(false)

    /** Performs the actions of due notices. Returns false if another node has the rule. */
    const notify = Effect.fnUntraced(function* (alert: Alert, now: Timestamp) {
      let current = alert
      for (const notice of alert.notices) {
        if (notice.due_at > now) continue
        const results = yield* notifier.send(current, notice)
        const failures = results.filter(({ error }) => error !== null)
        const error = failures[0]?.error ?? null
        const failed = failures.map(({ action }) => action)
        current = attempted(current, { noticeId: notice.notice_id, failed, error }, yield* currentTime)
        if (!(yield* store.replace(current, current.due_at))) return
      }
    })

    const process = Effect.fnUntraced(function* (alert: Alert) {
      const now = yield* currentTime
      const evaluated = evaluate(alert, yield* judge(alert, now), now, yield* fresh(NoticeId))
      if (yield* store.replace(evaluated, alert.due_at)) yield* notify(evaluated, now)
    })

    const pass = Effect.gen(function* () {
      yield* hasDue.await
      const now = yield* currentTime
      const claimed = yield* store.claim(now, addMillis(now, intervalMs), batch)
      if (claimed.length < batch) hasDue.closeUnsafe()
      yield* Effect.forEach(claimed, process, { concurrency, discard: true })
    })

    const checkDue = (next: Timestamp | null) =>
      Effect.map(currentTime, (now) => {
        if (next !== null && next <= now) hasDue.openUnsafe()
      })

    yield* poller.onPoll(({ next_alert_at }) => Effect.runSync(checkDue(next_alert_at)))
    yield* forkSupervised({ name: "The evaluator of alert rules" }, pass)
  })
)

/** Rows per query, and maximum rows of an evaluation. */
const rowsBatch = 2_000
const rowsMax = 50_000

/** Maximum deliveries that a backlog is compared with. */
const backlogMax = 1_000_001

/** Returns a function that evaluates the condition of a rule. */
const makeJudge = Effect.gen(function* () {
  const series = yield* SeriesStore
  const store = yield* AlertStore

  const sum = Effect.fnUntraced(function* (alert: Alert, minutes: number, now: Timestamp) {
    const selection = toSelection(alert, minutes, now)
    const sums = new CountSums()
    let after: SeriesKey | null = null
    for (let count = 0; count < rowsMax; count += rowsBatch) {
      const rows: ReadonlyArray<MinuteCounts> = yield* series.read(alert.env_id, selection, after, rowsBatch)
      for (const row of rows) sums.add(row)
      if (rows.length < rowsBatch) break
      after = rows.at(-1) ?? null
    }
    return sums
  })

  return Effect.fnUntraced(function* (alert: Alert, now: Timestamp): Effect.fn.Return<Verdict, StoreUnavailable> {
    const { condition } = alert
    switch (condition.type) {
      case "failure_share": {
        const { succeeded, failed } = yield* sum(alert, condition.window_minutes, now)
        const runs = succeeded + failed
        if (runs === 0 || runs < condition.min_runs) return nothing
        return { breached: failed / runs > condition.share, value: failed / runs }
      }
      case "latency": {
        const sums = yield* sum(alert, condition.window_minutes, now)
        const times = sums[condition.of]
        const value = times.total < condition.min_runs ? null : times.percentile(condition.percentile / 100)
        return { breached: value !== null && value > condition.over_ms, value }
      }
      case "backlog": {
        const found = yield* store.backlog(alert, now, Math.min(backlogMax, (condition.deliveries ?? backlogMax) + 1))
        const seconds = found.oldest === null ? 0 : Math.floor((now - found.oldest) / 1000)
        return judgeBacklog(condition, found.deliveries, seconds)
      }
      case "silence": {
        const last = yield* series.lastSuccess(alert.env_id, toSelection(alert, condition.minutes, now))
        // A new rule, and one that was enabled again, first waits for its whole time.
        const since = Math.max(last === null ? 0 : last + minuteMs, alert.updated_at)
        const minutes = Math.max(0, Math.floor((now - since) / minuteMs))
        return { breached: minutes >= condition.minutes, value: minutes }
      }
    }
  })
})

const nothing: Verdict = { breached: false, value: null }

const judgeBacklog = (
  { deliveries, oldest_seconds }: Extract<AlertCondition, { readonly type: "backlog" }>,
  found: number,
  seconds: number
): Verdict => {
  const isLong = deliveries !== undefined && found > deliveries
  const isOld = oldest_seconds !== undefined && seconds > oldest_seconds
  const value = deliveries === undefined || (isOld && !isLong) ? seconds : found
  return { breached: isLong || isOld, value }
}

/** Selects the counts of the scope of a rule in the minutes before `now`, with the current one. */
const toSelection = ({ project_id, ns, var: name }: Alert, minutes: number, now: Timestamp): SeriesSelection => ({
  from: toMinute(now - minutes * minuteMs),
  to: addMillis(toMinute(now), minuteMs),
  ...(project_id === null ? {} : { projectId: project_id }),
  ...(ns === null || name === null ? {} : { fn: { ns, var: name } })
})
