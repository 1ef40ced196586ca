import type { Finding } from "../Finding.ts"
import type { Repository } from "../Repository.ts"
import { citedDecisions } from "./citedDecisions.ts"
import { citedPaths } from "./citedPaths.ts"
import { citedTests } from "./citedTests.ts"
import { conformance } from "./conformance.ts"
import { dependencyReasons } from "./dependencyReasons.ts"
import { forbiddenCode } from "./forbiddenCode.ts"
import { guestSideImports } from "./guestSideImports.ts"
import { idleTests } from "./idleTests.ts"
import { importDirections } from "./importDirections.ts"
import { machineTraces } from "./machineTraces.ts"
import { names } from "./names.ts"
import { secretCompares } from "./secretCompares.ts"
import { sizes } from "./sizes.ts"
import { supplyChain } from "./supplyChain.ts"
import { wingsPicture } from "./wingsPicture.ts"

/** A rule looks at the whole repository and reports every place that breaks it. */
export type Rule = (repository: Repository) => ReadonlyArray<Finding>

const rules: ReadonlyArray<Rule> = [
  (repository) => repository.unreadable,
  importDirections,
  wingsPicture,
  guestSideImports,
  sizes,
  names,
  forbiddenCode,
  idleTests,
  dependencyReasons,
  supplyChain,
  secretCompares,
  citedTests,
  citedPaths,
  citedDecisions,
  machineTraces,
  conformance
]

/** Everything that any rule finds, by file and line. */
export const findingsIn = (repository: Repository): ReadonlyArray<Finding> =>
  rules
    .flatMap((rule) => rule(repository))
    .sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1))
