import { defineConfig } from "vitest/config"
import { builtByUrl } from "./tooling/src/programs/builtByUrl.ts"
import { LongestFirst } from "./tooling/src/programs/LongestFirst.ts"

/** Everything that needs no service, and that no other project takes. */
const suites = [
  "packages/!(core|api|sdk|client)/test/**/*.test.ts",
  "{adapters,examples}/*/test/**/*.test.ts",
  "{bench,docs,proof,tooling}/test/**/*.test.ts"
]

/** The domain and its faces on stores in memory. They start no process, and take less than 30 s on 2 cores. */
const units = ["packages/{core,api,sdk,client}/test/**/*.test.ts"]

/** Tests of those packages that take seconds each: they run a compiler, a bundler, a sandbox, or many days of virtual time. */
const longUnits = [
  ...["hostDocs", "hostTypes", "docs", "types", "size"].map((name) => `packages/sdk/test/${name}.test.ts`),
  ...["docs", "agreement"].map((name) => `packages/sdk/test/durable/${name}.test.ts`),
  "packages/core/test/runtime/workflows/{continuations,durable,tokens}.test.ts",
  ...["uploads", "bundle", "types"].map((name) => `packages/client/test/${name}.test.ts`),
  "packages/core/test/foundation/time/Ticks.test.ts",
  "packages/core/test/resources/files/{Crash,Assembly}.test.ts",
  "packages/core/test/resources/schedules/{rules,static}.test.ts",
  "packages/core/test/resources/builds/PreparationQueue.test.ts"
]

/** The contracts of the stores, in memory, on SQLite and on disk. */
const contracts = [
  "packages/contract/test/{memory,feed}.test.ts",
  "packages/contract/test/adapters/**/*.test.ts",
  "adapters/sqlite/test/{contract,contract-file,leases,migrations,groups,schedules,rates}.test.ts",
  "adapters/filesystem/test/**/*.test.ts"
]

/** The tests of the HTTP surface, which hold on every backend. */
const http = ["adapters/http/test/**/*.test.ts"]

/** Those of them that store nothing. */
const aboveStores = ["responses", "openapi", "webhooks", "files", "fuzz", "mcp", "mounts"].map(
  (folder) => `adapters/http/test/${folder}/**`
)

/** Those of them to which it is all one what keeps the little that they store. */
const onAnyStores = [
  "console",
  "mcp",
  "mounts",
  "openapi",
  "permissions",
  "processMeter",
  "sockets",
  "webhookAnswers",
  "webhookBodies",
  "webhookRanges",
  "webhookTransports"
].map((name) => `adapters/http/test/${name}.test.ts`)

/** Those of them that say nothing of the API's endpoints, or send their requests otherwise. */
const besidesEndpoints = [
  ...[
    "client",
    "console",
    "draining",
    "files-client",
    "files-downloads",
    "files-elsewhere",
    "fuzz",
    "mcp",
    "metrics",
    "mounts"
  ],
  ...[
    "openapi",
    "outages",
    "processMeter",
    "sockets",
    "streams-life",
    "streams-nodes",
    "webhookAnswers",
    "webhookBodies",
    "webhookRanges",
    "webhookTransports",
    "webhooks"
  ]
].map((name) => `adapters/http/test/${name}.test.ts`)

/** Suites that need a database server, which is started for all of them together. */
const onPostgres = ["adapters/postgres/test/**/*.test.ts"]

/** Suites that start complete servers. They run last, and mostly wait. */
const heavy = ["**/*.e2e.test.ts"]

/** Suites of the console in a browser, which run on both databases. */
const inBrowsers = ["examples/standalone/test/console*.e2e.test.ts"]

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
          name: "unit",
          include: units,
          exclude: [...heavy, ...longUnits],
          isolate: false,
          maxWorkers: 3,
          sequence: { groupOrder: 0 }
        }
      },
      {
        extends: true,
        test: {
          name: "contracts",
          include: contracts,
          exclude: heavy,
          isolate: false,
          maxWorkers: 3,
          sequence: { groupOrder: 0 }
        }
      },
      {
        extends: true,
        test: {
          name: "suites",
          include: [...suites, ...longUnits],
          exclude: [...heavy, ...onPostgres, ...http, ...contracts],
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
          globalSetup: "./tooling/src/programs/vitestConsole.ts",
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
          provide: { consoleStore: "SQLite" },
          maxWorkers: 4,
          testTimeout: 120_000,
          sequence: { groupOrder: 2 }
        }
      },
      {
        extends: true,
        test: {
          name: "console on postgres",
          include: inBrowsers,
          globalSetup: "./tooling/src/programs/vitest.ts",
          provide: { consoleStore: "PostgreSQL" },
          maxWorkers: 4,
          testTimeout: 120_000,
          sequence: { groupOrder: 2 }
        }
      }
    ],
    execArgv: ["--conditions=weft-source"],
    // Thousands of tests with real processes, servers and browsers share two cores there. The summary names tests that needed it.
    retry: process.env.CI === "true" ? 1 : 0,
    testTimeout: 30_000,
    // A busy machine takes its time to open a database.
    hookTimeout: 60_000
  },
  resolve: { conditions: ["weft-source"] },
  ssr: { resolve: { conditions: ["weft-source"], externalConditions: ["weft-source"] } }
})
