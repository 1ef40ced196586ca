/** For vitest's `globalSetup`: starts a PostgreSQL for all tests of a project, provided as `inject("postgresUrl")`. */
import type { TestProject } from "vitest/node"
import { postgres } from "./Postgres.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly postgresUrl: string
  }
}

export default async function setup({ provide }: Pick<TestProject, "provide">): Promise<() => Promise<void>> {
  const given = process.env.WEFT_TEST_POSTGRES_URL
  if (given !== undefined) {
    provide("postgresUrl", given)
    return async () => {}
  }
  const server = await postgres()
  provide("postgresUrl", server.url)
  return server.remove
}
