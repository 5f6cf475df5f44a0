// Whose a recording is: of the account that was signed in when it began, or of no account until somebody sends it.

/** What a recording keeps of an account; null for nobody. */
export const ownerOf = (account) => (account ? { server: account.server, name: account.name } : null);

/** Whether a recording (its facts) is `own`, of `nobody`, or of an `other` account than the one that is signed in. */
export function ownershipOf({ owner = null }, account) {
  if (!owner) return "nobody";
  return account && owner.server === account.server && owner.name === account.name ? "own" : "other";
}
