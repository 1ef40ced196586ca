import { defineConfig } from "vitest/config"

const suites = ["{packages,adapters,examples}/*/test/**/*.test.ts", "{bench,tooling}/test/**/*.test.ts"]

/** Suites that start whole servers or attack the sandbox: last, and one at a time, or they would time each other out. */
const heavy = ["**/*.e2e.test.ts", "**/test/attack/**/*.test.ts"]

export default defineConfig({
  test: {
    pool: "forks",
    reporters: ["default", "./tooling/src/PlainSummary.ts"],
    projects: [
      {
        extends: true,
        test: { name: "suites", include: suites, exclude: heavy, maxWorkers: 2, sequence: { groupOrder: 0 } }
      },
      {
        extends: true,
        test: { name: "heavy", include: heavy, maxWorkers: 1, testTimeout: 120_000, sequence: { groupOrder: 1 } }
      }
    ],
    execArgv: ["--conditions=weft-source"],
    testTimeout: 30_000
  },
  resolve: { conditions: ["weft-source"] },
  ssr: { resolve: { conditions: ["weft-source"], externalConditions: ["weft-source"] } }
})
