import { defineConfig } from "vitest/config"
import LongestFirst from "./tooling/src/LongestFirst.ts"
import { builtByUrl } from "./tooling/src/programs/builtByUrl.ts"

const suites = ["{packages,adapters,examples}/*/test/**/*.test.ts", "{bench,docs,tooling}/test/**/*.test.ts"]

/** The tests of the HTTP surface, which hold on every backend. */
const http = ["adapters/http/test/**/*.test.ts"]

/** Those of them that store nothing. */
const aboveStores = ["answers", "openapi", "webhooks", "files", "fuzz", "mcp", "mounts"].map(
  (folder) => `adapters/http/test/${folder}/**`
)

/** Those of them to which it is all one what keeps the little that they store. */
const onAnyStores = ["mcp", "mounts", "openapi", "permissions", "sockets", "webhookAnswers", "webhookBodies"].map(
  (name) => `adapters/http/test/${name}.test.ts`
)

/** Those of them that say nothing of the API's endpoints, or send their requests otherwise. */
const besidesEndpoints = [
  ...["client", "draining", "files-client", "files-downloads", "files-elsewhere", "fuzz", "mcp", "metrics", "mounts"],
  ...["openapi", "outages", "sockets", "streams-life", "streams-nodes", "webhookAnswers", "webhookBodies", "webhooks"]
].map((name) => `adapters/http/test/${name}.test.ts`)

/** Suites that need a database server, which is started for all of them together. */
const onPostgres = ["adapters/postgres/test/**/*.test.ts"]

/** Suites that start whole servers: last, when all else is over. Most of their time they wait. */
const heavy = ["**/*.e2e.test.ts"]

export default defineConfig({
  plugins: [builtByUrl()],
  test: {
    pool: "forks",
    sequence: { sequencer: LongestFirst },
    reporters: ["default", "./tooling/src/PlainSummary.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "suites",
          include: suites,
          exclude: [...heavy, ...onPostgres, ...http],
          // Many files take less time than what they import.
          isolate: false,
          maxWorkers: 3,
          sequence: { groupOrder: 0 }
        }
      },
      {
        extends: true,
        test: {
          name: "http",
          include: http,
          exclude: heavy,
          provide: { httpBackend: "SQLite and files" },
          // A file takes less time than what it imports.
          isolate: false,
          maxWorkers: 3,
          sequence: { groupOrder: 0 }
        }
      },
      {
        extends: true,
        test: {
          name: "http by the client",
          include: http,
          exclude: [...heavy, ...aboveStores, ...besidesEndpoints],
          globalSetup: "./adapters/http/test/client/Tally.ts",
          provide: { httpBackend: "memory", throughClient: true },
          isolate: false,
          maxWorkers: 3,
          sequence: { groupOrder: 0 }
        }
      },
      {
        extends: true,
        test: {
          name: "postgres",
          include: onPostgres,
          exclude: heavy,
          globalSetup: "./tooling/src/services/vitest.ts",
          maxWorkers: 3,
          sequence: { groupOrder: 1 }
        }
      },
      {
        extends: true,
        test: {
          name: "http on postgres",
          include: http,
          exclude: [...heavy, ...aboveStores, ...onAnyStores],
          globalSetup: ["./tooling/src/services/vitest.ts", "./tooling/src/services/vitestS3.ts"],
          provide: { httpBackend: "PostgreSQL and S3" },
          isolate: false,
          maxWorkers: 3,
          sequence: { groupOrder: 1 }
        }
      },
      {
        extends: true,
        test: {
          name: "heavy",
          include: heavy,
          globalSetup: "./tooling/src/programs/vitest.ts",
          maxWorkers: 4,
          testTimeout: 120_000,
          sequence: { groupOrder: 2 }
        }
      }
    ],
    execArgv: ["--conditions=weft-source"],
    testTimeout: 30_000,
    // A busy machine takes its time to open a database.
    hookTimeout: 60_000
  },
  resolve: { conditions: ["weft-source"] },
  ssr: { resolve: { conditions: ["weft-source"], externalConditions: ["weft-source"] } }
})
