/** For vitest's `globalSetup`: builds the console before tests request its page. */
import { consoleApp } from "./ConsoleApp.ts"

export default consoleApp
