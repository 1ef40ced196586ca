/**
 * The order of test files: those that take longest first, so that no worker is left with a long one at the end. A new clone has
 * no durations of an earlier run, and the size of a file says little.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Files that take more than 12 s with three or four workers on two cores, the longest first. */
export const longest = [
  "docs/test/blocks.e2e.test.ts",
  "examples/standalone/test/console.e2e.test.ts",
  "packages/cli/test/projects/projects.e2e.test.ts",
  "proof/test/crash.e2e.test.ts",
  "examples/standalone/test/nodes.e2e.test.ts",
  "proof/test/crashDurablePostgres.e2e.test.ts",
  "proof/test/crashDurable.e2e.test.ts",
  "examples/standalone/test/consoleBuilds.e2e.test.ts",
  "packages/cli/test/ops/runs.e2e.test.ts",
  "examples/standalone/test/failover.e2e.test.ts",
  "adapters/postgres/test/upgradeByTurns.test.ts",
  "adapters/postgres/test/upgradeOld.test.ts",
  "packages/sandbox/test/watchdog.test.ts",
  "packages/contract/test/lifecycle.test.ts",
  "adapters/sqlite/test/expanded.test.ts",
  "adapters/sqlite/test/contract-file.test.ts",
  "packages/sandbox/test/hostile/hostile.test.ts",
  "proof/test/simulation.test.ts",
  "packages/sdk/test/hostDocs.test.ts",
  "proof/test/flowControlSimulation.test.ts",
  "adapters/postgres/test/contract.test.ts",
  "packages/sandbox/test/responses.test.ts",
  "packages/core/test/foundation/time/Ticks.test.ts",
  "packages/sandbox/test/hostile-runner.test.ts",
  "packages/sandbox/test/attacks/sources.test.ts",
  "packages/sandbox/test/attacks/attacks.test.ts",
  "adapters/s3/test/contract.test.ts",
  "packages/sandbox/test/compiler.test.ts",
  "adapters/postgres/test/outbox.test.ts",
  "adapters/s3/test/large.test.ts",
  "adapters/sqlite/test/contract.test.ts",
  "packages/sandbox/test/memoryBudget.test.ts",
  "adapters/http/test/streams-life.test.ts",
  "packages/contract/test/mutation.test.ts",
  "adapters/nats/test/feed.test.ts",
  "packages/contract/test/UsageFaults.test.ts",
  "proof/test/plans.test.ts",
  "packages/contract/test/BlobFaults.test.ts",
  "adapters/postgres/test/retention.test.ts",
  "packages/sandbox/test/durable.test.ts",
  "packages/sandbox/test/encodings.test.ts",
  "packages/core/test/resources/files/Crash.test.ts",
  "packages/core/test/runtime/workflows/continuations.test.ts",
  "packages/contract/test/FileFaults.test.ts",
  "adapters/http/test/metrics.test.ts",
  "packages/sandbox/test/crypto.test.ts",
  "packages/sandbox/test/calls.test.ts",
  "adapters/http/test/mounts/pipelining.test.ts"
]

const places = new Map(longest.map((path, place) => [path, place]))

export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const { root } = this.ctx.config
    const place = ({ moduleId }: TestSpecification): number =>
      places.get(moduleId.slice(root.length + 1)) ?? Number.POSITIVE_INFINITY
    const group = ({ project }: TestSpecification): number => project.config.sequence.groupOrder
    const usual = await super.sort(files)
    return usual.sort((a, b) => {
      const groups = group(a) - group(b)
      if (groups !== 0) return groups
      const [first, second] = [place(a), place(b)]
      return first === second ? 0 : first - second
    })
  }
}
