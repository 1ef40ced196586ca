/**
 * Ignores SIGUSR1. By default Node.js opens its debugger on this signal, which executes any code without a credential.
 *
 * Import this module before all others: until it runs, the default applies. `node --inspect` still opens the debugger.
 */
process.on("SIGUSR1", () => undefined)
