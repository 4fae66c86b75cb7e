export const en = {
};

export const zh = {
};
