/** `npm start`: runs the reference server, rebuilding it if its sources have changed. */
import "../src/debuggerSignal.ts"
import { pathToFileURL } from "node:url"
import { referenceServer } from "@weft/tooling/programs"

await import(pathToFileURL(await referenceServer()).href)
