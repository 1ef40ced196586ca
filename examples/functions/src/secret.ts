/**
 * What GitHub signs its deliveries with: the secret of GitHub's own documentation, for the sample payloads.
 * It belongs into a context variable as soon as the runtime has them, and no real one belongs here.
 */
export const webhookSecret = "It's a Secret to Everybody"
