/**
 * A sequencer that begins with the files that take longest: begun last, they would keep one worker busy while the
 * others have nothing left to do. What is not named here comes after, as vitest has it.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Of a whole run, in descending order of what they take. */
export const long = [
  "docs/test/blocks.e2e.test.ts",
  "examples/standalone/test/nodes.e2e.test.ts",
  "packages/cli/test/projects/projects.e2e.test.ts",
  "bench/test/crash.e2e.test.ts",
  "adapters/postgres/test/upgradeByTurns.test.ts",
  "packages/sandbox/test/hostile/hostile.test.ts",
  "examples/standalone/test/drain.e2e.test.ts",
  "adapters/postgres/test/contract.test.ts",
  "bench/test/soak.e2e.test.ts",
  "adapters/postgres/test/upgradeOld.test.ts",
  "examples/standalone/test/away.e2e.test.ts",
  "packages/cli/test/ops/files.e2e.test.ts",
  "packages/sandbox/test/police.test.ts",
  "adapters/postgres/test/feed.test.ts",
  "packages/contract/test/mutation.test.ts",
  "packages/core/test/builds/Ticks.test.ts",
  "examples/standalone/test/backup.e2e.test.ts",
  "examples/standalone/test/schedules.e2e.test.ts",
  "adapters/nats/test/feed.test.ts",
  "examples/standalone/test/postgres.e2e.test.ts",
  "examples/embed-express/test/embed.e2e.test.ts",
  "docs/test/build.e2e.test.ts",
  "adapters/http/test/fuzz.test.ts",
  "packages/contract/test/simulation.test.ts",
  "adapters/s3/test/faults.test.ts",
  "bench/test/crashClock.e2e.test.ts",
  "packages/cli/test/ops/runs.e2e.test.ts",
  "examples/standalone/test/files.e2e.test.ts",
  "adapters/http/test/streams-life.test.ts",
  "packages/contract/test/lifecycle.test.ts",
  "packages/sdk/test/hostDocs.test.ts",
  "examples/standalone/test/crash.e2e.test.ts",
  "packages/contract/test/BlobFaults.test.ts",
  "adapters/sqlite/test/lifecycle.test.ts",
  "examples/standalone/test/leaks.e2e.test.ts",
  "bench/test/plans.test.ts",
  "adapters/postgres/test/outbox.test.ts",
  "examples/standalone/test/fetch.e2e.test.ts",
  "adapters/s3/test/large.test.ts",
  "examples/standalone/test/conditions.e2e.test.ts",
  "packages/client/test/uploads.test.ts",
  "adapters/sqlite/test/expanded.test.ts",
  "examples/standalone/test/svcFiles.e2e.test.ts",
  "adapters/http/test/permissions.test.ts",
  "packages/sandbox/test/attacks/attacks.test.ts",
  "packages/sandbox/test/room.test.ts",
  "packages/cli/test/ops/access.e2e.test.ts",
  "packages/sandbox/test/lifecycle.test.ts",
  "examples/functions/test/github.e2e.test.ts",
  "adapters/s3/test/contract.test.ts"
]

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = long.findIndex((file) => moduleId.endsWith(`/${file}`))
  return place === -1 ? long.length : place
}

export default class LongestFirst extends BaseSequencer {
  /** Projects stay one after the other: a worker goes on with files of its own. */
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const sorted = await super.sort(files)
    // Vitest itself begins with what took longest here before, once it knows.
    if (files.every((file) => this.ctx.cache.getTestSpecificationResult(file) !== undefined)) return sorted
    const projects = [...new Set(sorted.map(({ project }) => project))]
    return projects.flatMap((project) =>
      sorted.filter((file) => file.project === project).sort((one, other) => placeOf(one) - placeOf(other))
    )
  }
}
