/** Rules of flow control that decide which deliveries of an event are stored, in the transaction that stores it. */
import {
  type AdmittedDelivery,
  type Batched,
  type Delivery,
  debounce,
  decideFlow,
  type FlowRule,
  flowKeysOf,
  type Replaced,
  readFlowState,
  type StoredFlowState,
  type Timestamp
} from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { makeAdmitBatch } from "./BatchAdmission.ts"
import type { Database } from "./Database.ts"
import { makeFlowStates, toLockName } from "./FlowStates.ts"
import { type GroupBusy, makeReplaceGroup } from "./GroupReplacement.ts"
import type { JournalStatements } from "./JournalStatements.ts"

/** Effects of the rules of an admission on other deliveries. */
interface FlowEffects {
  readonly replaced: Array<Replaced>
  readonly batched: Array<Batched>
}

/** The deliveries to store, and the effects on others. */
interface AdmittedFlow extends FlowEffects {
  readonly stored: ReadonlyArray<Delivery>
}

/** Returns the deliveries to store. Those that a rule drops are left out. Executes nothing for deliveries without rules. */
export const makeAdmitFlow = (database: Database["Service"], statements: JournalStatements) => {
  const { dialect, writer: sql } = database
  const states = makeFlowStates(database)
  const replaceGroup = makeReplaceGroup(database, statements)
  const admitBatch = makeAdmitBatch(database)

  /** Removes a delivery that is still pending with this due time. Returns false if it is not. */
  const removePending = (env_id: string, { delivery_id, due_at }: Pick<Delivery, "delivery_id" | "due_at">) =>
    Effect.map(
      sql`DELETE FROM deliveries
        WHERE env_id = ${env_id} AND due_at = ${due_at} AND delivery_id = ${delivery_id}`.raw,
      (raw) => dialect.changes(raw) > 0
    )

  /** True if a delivery of the same group is pending or running. One statement, so that it sees each in one state. */
  const isActive = ({ env_id, group }: Delivery) =>
    Effect.map(
      sql`SELECT 1 FROM deliveries WHERE env_id = ${env_id} AND group_key = ${group?.key ?? ""}
        UNION ALL SELECT 1 FROM runs WHERE env_id = ${env_id} AND group_key = ${group?.key ?? ""} LIMIT 1`,
      (rows) => rows.length > 0
    )

  /** Applies the rules of a delivery. Returns the delivery to store; null if a rule drops it, or if its event joins a batch. */
  const admitOne = Effect.fnUntraced(function* (
    { delivery, rules }: AdmittedDelivery,
    known: Map<string, StoredFlowState>,
    now: Timestamp,
    effects: FlowEffects
  ): Effect.fn.Return<Delivery | null, SqlError.SqlError | GroupBusy> {
    const { env_id } = delivery
    const written = new Map<string, StoredFlowState>()
    let admitted: Delivery | null = delivery
    for (const rule of rules) {
      if (rule._tag === "Singleton") {
        if (yield* isActive(delivery)) return null
        continue
      }
      if (rule._tag === "Replace") {
        effects.replaced.push(yield* replaceGroup(delivery, now))
        continue
      }
      const state = readFlowState(known.get(toLockName({ env_id, key: rule.key })), now)
      if (rule._tag === "Debounce") {
        const waiting = state?.waiting
        const wasPending = waiting !== undefined && (yield* removePending(env_id, waiting))
        const decided = debounce(rule, delivery, wasPending ? waiting : undefined, now)
        written.set(rule.key, decided.state)
        admitted = { ...delivery, due_at: decided.due_at }
        continue
      }
      if (rule._tag === "Batch") {
        const decided = yield* admitBatch(rule, delivery, state, now)
        if (decided.state !== null) written.set(rule.key, decided.state)
        admitted = decided.admitted
        const joined = admitted === null ? [delivery.delivery_id] : []
        if (decided.isDue || admitted === null) effects.batched.push({ joined, isDue: decided.isDue })
        continue
      }
      const decision = decideFlow(rule, state, now)
      if (decision._tag === "Dropped") return null
      written.set(rule.key, decision.state)
    }
    for (const [key, stored] of written) known.set(toLockName({ env_id, key }), stored)
    yield* states.write([...written].map(([key, stored]) => ({ env_id, key, ...stored })))
    return admitted
  })

  return Effect.fnUntraced(function* (
    all: ReadonlyArray<AdmittedDelivery>,
    now: Timestamp
  ): Effect.fn.Return<AdmittedFlow, SqlError.SqlError | GroupBusy> {
    const ruled = all.filter(({ rules }) => rules.length > 0)
    if (ruled.length === 0) return { stored: all.map(({ delivery }) => delivery), replaced: [], batched: [] }
    yield* states.lock(ruled.flatMap(lockNames))
    const known = yield* states.read(ruled.flatMap(({ delivery: { env_id }, rules }) => keysOf(env_id, rules)))
    const stored: Array<Delivery> = []
    const effects: FlowEffects = { replaced: [], batched: [] }
    for (const each of all) {
      const admitted = each.rules.length === 0 ? each.delivery : yield* admitOne(each, known, now, effects)
      if (admitted !== null) stored.push(admitted)
    }
    return { stored, ...effects }
  })
}

const keysOf = (env_id: Delivery["env_id"], rules: ReadonlyArray<FlowRule>) =>
  flowKeysOf(rules).map((key) => ({ env_id, key }))

/** Returns the locks of the keys, and that of the group of a singleton, which claims also hold. */
const lockNames = ({ delivery: { env_id, group }, rules }: AdmittedDelivery): ReadonlyArray<string> => {
  const names = keysOf(env_id, rules).map(toLockName)
  const isSingleton = rules.some(({ _tag }) => _tag === "Singleton" || _tag === "Replace")
  return isSingleton && group !== null ? [...names, toLockName({ env_id, key: group.key })] : names
}
