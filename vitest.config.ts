import { defineConfig } from "vitest/config"

export default defineConfig({
  resolve: { conditions: ["weft-source"] },
  ssr: { resolve: { conditions: ["weft-source"], externalConditions: ["weft-source"] } },
  test: {
    include: ["{packages,adapters,examples,tooling}/*/test/**/*.test.ts", "tooling/test/**/*.test.ts"],
    execArgv: ["--conditions=weft-source"],
    testTimeout: 30_000
  }
})
