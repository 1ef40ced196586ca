/** For vitest's `globalSetup`: starts an S3 server for all tests of a project, provided as `inject("s3Url")`. */
import type { TestProject } from "vitest/node"
import { s3Server, s3Url } from "./S3Server.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** URL with a bucket, which the first test that uses it creates. */
    readonly s3Url: string
  }
}

export default async function setup({ provide }: Pick<TestProject, "provide">): Promise<() => Promise<void>> {
  const server = await s3Server()
  provide("s3Url", s3Url(server, "weft-tests"))
  return server.remove
}
