/** For vitest's `globalSetup`: builds the programs before concurrent tests request them. */
import { commandLine } from "./CommandLine.ts"
import { consoleApp } from "./ConsoleApp.ts"
import { referenceServer } from "./ReferenceServer.ts"

export default async function setup(): Promise<void> {
  await Promise.all([referenceServer(), commandLine(), consoleApp()])
}
