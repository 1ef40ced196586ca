/**
 * A reporter that ends the output of a run with the line `N passed, N failed, N skipped`. Lines before it name the tests that
 * passed at their second attempt only.
 */
import type { Reporter, TestModule } from "vitest/node"

export default class PlainSummary implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    let passed = 0
    let skipped = 0
    const flaky: Array<string> = []
    // A module that could not be collected counts as one failure.
    let failed = modules.filter((module) => module.errors().length > 0).length
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (test.diagnostic()?.flaky === true) flaky.push(`${module.relativeModuleId} > ${test.fullName}`)
        if (state === "passed") passed += 1
        else if (state === "failed") failed += 1
        else skipped += 1
      }
    }
    // The default reporter prints its summary in the same event, so this line waits for the end of the process.
    process.once("exit", () => {
      for (const name of flaky) console.log(`passed at the second attempt only: ${name}`)
      console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
    })
  }
}
