/** Numbers of ended runs by build, month and status. */
import type { OrgId } from "../../foundation/Ids.ts"
import { type Month, monthOf } from "../../tenants/orgs/Month.ts"
import type { Run, RunStatus } from "../runs/Run.ts"
import type { RunCount } from "./RunCountBatch.ts"

/** Runs of one build that began in the same month. */
interface BuildTally {
  /** The first of them. */
  readonly run: Run
  readonly orgId: OrgId
  readonly month: Month
  readonly runs: Map<RunStatus, number>
}

export class RunTally {
  /** By the build. Runs of a second month have keys of their own. */
  readonly #builds = new Map<string, BuildTally>()

  get isEmpty(): boolean {
    return this.#builds.size === 0
  }

  add(run: Run, status: RunStatus, orgId: OrgId): void {
    const { runs } = this.#find(run, orgId)
    runs.set(status, (runs.get(status) ?? 0) + 1)
  }

  get counts(): ReadonlyArray<RunCount> {
    return [...this.#builds.values()].flatMap(
      ({ run: { env_id, project_id, project_name, run_type, start_time }, runs }) =>
        [...runs].map(([status, n]) => ({
          ...{ env_id, project_id, project_name, run_type, start_time },
          status,
          runs: n
        }))
    )
  }

  /** The number of runs by organization. */
  get orgs(): ReadonlyMap<OrgId, number> {
    const sums = new Map<OrgId, number>()
    for (const { orgId, runs } of this.#builds.values()) {
      for (const n of runs.values()) sums.set(orgId, (sums.get(orgId) ?? 0) + n)
    }
    return sums
  }

  #find(run: Run, orgId: OrgId): BuildTally {
    const first = this.#builds.get(run.build_id)
    if (first === undefined) return this.#insert(run.build_id, run, orgId)
    if (run.start_time >= first.month.start && run.start_time < first.month.end) return first
    const key = `${run.build_id} ${monthOf(run.start_time).start}`
    return this.#builds.get(key) ?? this.#insert(key, run, orgId)
  }

  #insert(key: string, run: Run, orgId: OrgId): BuildTally {
    const tally = { run, orgId, month: monthOf(run.start_time), runs: new Map<RunStatus, number>() }
    this.#builds.set(key, tally)
    return tally
  }
}
