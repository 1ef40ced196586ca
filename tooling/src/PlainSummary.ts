/** A reporter that closes a run with one plain line, `N passed, N failed, N skipped`, for people and machines alike. */
import type { Reporter, TestModule } from "vitest/node"

export default class PlainSummary implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    let passed = 0
    let skipped = 0
    // A module that could not even be collected is a failure of its own.
    let failed = modules.filter((module) => module.errors().length > 0).length
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === "passed") passed += 1
        else if (state === "failed") failed += 1
        else skipped += 1
      }
    }
    // The default reporter prints its own summary at this very moment; ours closes the output.
    process.once("exit", () => console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`))
  }
}
