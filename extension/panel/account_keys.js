// Names under which an account's answers are stored; null: of nobody.

export const keyOf = (name, account) => (account ? `${name} ${account.server} ${account.name}` : name);
