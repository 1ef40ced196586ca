/** For vitest's `globalSetup`: an S3 server for the whole run of a project, as `inject("s3Url")`. */
import type { TestProject } from "vitest/node"
import { s3Server, s3Url } from "./S3Server.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** With a bucket that is made by the first who uses it. */
    readonly s3Url: string
  }
}

export default async function setup({ provide }: Pick<TestProject, "provide">): Promise<() => Promise<void>> {
  const server = await s3Server()
  provide("s3Url", s3Url(server, "weft-tests"))
  return server.remove
}
