/** Builds the state that all runs of a test environment share. */
import type { ExecutionContext } from "./Execution.ts"
import { listFunctions } from "./exported.ts"
import { MemoryFiles } from "./MemoryFiles.ts"
import type { TestOptions } from "./TestEnv.ts"
import { toFakes } from "./TestHost.ts"

export interface TestContext extends ExecutionContext {
  readonly ids: { readonly env_id: string; readonly project_id: string; readonly build_id: string }
  /** Time of events, ISO 8601. */
  readonly now: string
}

export const makeContext = (options: TestOptions): TestContext => {
  const { now = "2026-01-01T00:00:00.000Z", context = {}, assets = {}, functions, host = {}, svc = {}, fetch } = options
  const freshId = makeIds()
  const ids = { env_id: freshId(), project_id: freshId(), build_id: freshId() }
  const files = new MemoryFiles(options.files ?? {}, { now, env_id: ids.env_id, freshId })
  const known = functions === undefined ? null : listFunctions(functions)
  return {
    ...{ context, assets, files, fetch, freshId, ids, now },
    functions: known,
    host: toFakes(host),
    svc: toFakes(svc)
  }
}

const makeIds = (): (() => string) => {
  let last = 0
  return () => `00000000-0000-7000-8000-${(++last).toString(16).padStart(12, "0")}`
}
