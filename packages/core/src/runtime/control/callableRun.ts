/** Finds a run whose function the caller may call. */
import { Effect } from "effect"
import { NotFound } from "../../foundation/Errors.ts"
import { idReader, RunId } from "../../foundation/Ids.ts"
import { type Identity, requirePermission } from "../../tenants/access/Caller.ts"
import { allows } from "../../tenants/access/Permission.ts"
import type { Run } from "../runs/Run.ts"
import { RunStore } from "../runs/RunStore.ts"

/** Returns a function that finds a run by its id. Fails with `NotFound` without `call: create` on its function. */
export const makeFindCallable = Effect.map(RunStore, (runs) =>
  Effect.fnUntraced(function* (id: string) {
    const caller = yield* requirePermission("call", [], "create")
    const runId = readRunId(id)
    if (runId === null) return yield* new NotFound({ resource: "run" })
    const run = yield* runs.get(caller.env_id, runId)
    return mayCall(caller, run) ? run : yield* new NotFound({ resource: "run" })
  })
)

const mayCall = ({ permissions }: Identity, { ns, var: name, project_name }: Run): boolean =>
  [`${ns}/${name}`, `${project_name}:${ns}/${name}`].some((path) => allows(permissions, "call", path, "create"))

const readRunId = idReader(RunId)
