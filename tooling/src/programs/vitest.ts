/** For vitest's `globalSetup`: builds the reference server before many tests at once ask for it. */
import { referenceServer } from "./ReferenceServer.ts"

export default async function setup(): Promise<void> {
  await referenceServer()
}
