/** Inputs of hosts as the runtime takes them: snake_case, durations of Effect, revealed tokens. */
import type { WeftEnv } from "@weft/core"
import { Duration, Redacted } from "effect"
import type { AuditQuery, CancelQuery, DeadLetterSelection, NewCall, NewEvent, RunQuery } from "./Env.ts"
import type { NewOperation } from "./operationRecords.ts"
import type { PageOptions } from "./records.ts"

type EventInput = Parameters<WeftEnv["events"]["publish"]>[0]
type RunQueryInput = NonNullable<Parameters<WeftEnv["runs"]["list"]>[0]>
type CancelQueryInput = NonNullable<Parameters<WeftEnv["runs"]["cancelAll"]>[0]>
type AuditQueryInput = NonNullable<Parameters<WeftEnv["audit"]["list"]>[0]>

const defaultLimit = 20

export const toPageRequest = ({ limit = defaultLimit, offset = 0 }: PageOptions = {}) => ({ limit, offset })

export const toNewEvent = ({ streamId, deliverAt, ...event }: NewEvent): EventInput => ({
  ...event,
  ...(streamId === undefined ? {} : { stream_id: streamId }),
  ...(deliverAt === undefined ? {} : { deliver_at: deliverAt.toISOString() })
})

export const toNewCall = ({ waitSeconds, ...call }: NewCall): Parameters<WeftEnv["call"]>[0] => ({
  ...call,
  ...(waitSeconds === undefined ? {} : { wait: waitSeconds })
})

const toWithin = (withinMs: number | undefined) => (withinMs === undefined ? {} : { within: Duration.millis(withinMs) })

export const toRunQuery = ({ withinMs, ...query }: RunQuery = {}): RunQueryInput => ({
  ...query,
  ...toWithin(withinMs)
})

export const toCancelQuery = ({ withinMs, ...query }: CancelQuery = {}): CancelQueryInput => ({
  ...query,
  ...toWithin(withinMs)
})

export const toNewOperation = ({
  filter: { withinMs, ...filter } = {},
  build,
  rate,
  ...operation
}: NewOperation): Parameters<WeftEnv["operations"]["create"]>[0] => ({
  ...operation,
  filter: { ...filter, ...toWithin(withinMs) },
  options: { ...(build === undefined ? {} : { build }), ...(rate === undefined ? {} : { rate }) }
})

export const toAuditQuery = ({ withinMs, actorId, objectId, ...query }: AuditQuery = {}): AuditQueryInput => ({
  ...query,
  ...(actorId === undefined ? {} : { actor_id: actorId }),
  ...(objectId === undefined ? {} : { object_id: objectId }),
  ...toWithin(withinMs)
})

/** Returns the text of a token that the caller is allowed to see. */
export const reveal = (token: Redacted.Redacted<string>): string => Redacted.value(token)

type LetterSelection = DeadLetterSelection & { readonly build?: "same" | "deployed" }

/** Returns a selection with instants as core reads them. */
export const toLetterSelection = ({ since, until, ...selection }: LetterSelection = {}) => ({
  ...selection,
  ...(since === undefined ? {} : { since: since.toISOString() }),
  ...(until === undefined ? {} : { until: until.toISOString() })
})
